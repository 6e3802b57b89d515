#include "lanewise/planner/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/word.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 2> kPrecisions{"fp32", "fp16"};

Seconds time_of_operations(Machine const& machine, PciId gpu, Compute const& compute) {
  if (!(compute.flop > Flop(0))) return Seconds(0);
  auto const* part = machine.part_of(gpu);
  std::optional<FlopPerSecond> rate;
  if (part != nullptr) rate = compute.precision == Precision::Fp16 ? part->gpu.fp16_rate : part->gpu.fp32_rate;
  if (!rate)
    throw PlanError(fmt::format("nobody says the {} rate of '{}'; give 'time' instead of 'flop'",
                                to_string(compute.precision), machine.at(gpu).name));
  return compute.flop / *rate;
}

Seconds time_of_bytes(Model const& model, PciId gpu, Compute const& compute) {
  if (compute.bytes == Bytes(0)) return Seconds(0);
  auto const memory = model.resources().device_memory(gpu);
  auto const capacity = model.capacity(memory);
  if (!capacity) throw PlanError("nobody says " + model.resources().at(memory).missing);
  return compute.bytes / *capacity;
}

}  // namespace

std::string_view to_string(Precision precision) { return kPrecisions[static_cast<std::size_t>(precision)]; }
std::vector<std::string> precision_names() { return {kPrecisions.begin(), kPrecisions.end()}; }
Parsed<Precision> parse_precision(std::string_view text) {
  return parse_word<Precision>(text, kPrecisions, "a precision");
}

Seconds compute_time(Model const& model, Compute const& compute, Place const& on) {
  auto const& machine = model.machine();
  auto const gpu = gpu_at(machine, on);
  if (!gpu) throw PlanError(fmt::format("'{}' computes nothing: it is no GPU", machine.name_of(on)));
  if (compute.time > Seconds(0)) return compute.time;
  return std::max(time_of_operations(machine, *gpu, compute), time_of_bytes(model, *gpu, compute));
}

}  // namespace lanewise
