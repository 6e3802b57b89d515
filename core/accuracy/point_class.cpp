#include "core/accuracy/point_class.hpp"

#include <array>
#include <charconv>

namespace lanewise {
namespace {

GpuGeneration generation_of(Part const& gpu) {
  if (gpu.gpu.vendor == "amd") return GpuGeneration::Amd;
  int major = 0;
  auto const& text = gpu.gpu.compute_capability;
  if (std::from_chars(text.data(), text.data() + text.size(), major).ec != std::errc()) return GpuGeneration::Other;
  constexpr int kAmpere = 8;
  constexpr int kHopper = 9;
  if (major < kAmpere) return GpuGeneration::BeforeAmpere;
  if (major == kAmpere) return GpuGeneration::Ampere;
  return major == kHopper ? GpuGeneration::Hopper : GpuGeneration::Blackwell;
}

}  // namespace

std::string_view to_string(GpuGeneration generation) {
  constexpr std::array<std::string_view, 6> kNames{"before Ampere", "Ampere, Ada", "Hopper",
                                                   "Blackwell",     "AMD",         "no or other GPU"};
  return kNames.at(static_cast<std::size_t>(generation));
}

std::string_view to_string(AtOnce at_once) {
  constexpr std::array<std::string_view, 4> kNames{"one", "both ways", "several", "collective"};
  return kNames.at(static_cast<std::size_t>(at_once));
}

GpuGeneration gpu_generation(Machine const& machine, MeasuredPoint const& point) {
  auto const of = [&](PciId id) {
    auto const* part = machine.part_of(id);
    return part != nullptr ? generation_of(*part) : GpuGeneration::Other;
  };
  for (auto const& flow : point.flows)
    for (auto const& name : {flow.from, flow.to})
      if (auto const id = machine.find_function(name); id && machine.at(*id).kind == PciKind::Gpu) return of(*id);
  auto const gpus = machine.all(PciKind::Gpu);
  return gpus.empty() ? GpuGeneration::Other : of(gpus.front());
}

AtOnce at_once(MeasuredPoint const& point) {
  auto const& flows = point.flows;
  if (flows.empty()) return AtOnce::Collective;
  if (flows.size() == 1) return AtOnce::One;
  bool const pair = flows.size() == 2 && flows[0].from == flows[1].to && flows[0].to == flows[1].from;
  return pair ? AtOnce::BothWays : AtOnce::Several;
}

}  // namespace lanewise
