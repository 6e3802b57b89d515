#include "core/interop/machines/nccl/gpu_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/interop/machines/nccl/parts.hpp"

namespace lanewise {
namespace {

class NcclLinkAdder {
 public:
  NcclLinkAdder(NcclLinks const& links, std::vector<NcclPlacedGpu> const& gpus, MachineBuilder& builder)
      : links_(links), gpus_(gpus), builder_(builder) {}

  void add() {
    for (auto const& [ends, bundle] : links_.pairs()) {
      auto const& a = gpus_[ends.first];
      bool const xgmi = bundle.kind == NcclLink::Kind::Xgmi;
      auto const part = xgmi ? builder_.gpu_xgmi_part(part_of(a)) : link_part(a);
      builder_.add_nvlink(a.id, gpus_[ends.second].id, part, bundle.count);
    }
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const& links = links_.gpus()[i];
      if (links.to_cpu > 0) builder_.add_nvlink(gpus_[i].id, gpus_[i].socket, link_part(gpus_[i]), links.to_cpu);
      if (links.c2c > 0) add_c2c(gpus_[i], links.c2c);
    }
    add_nvswitch();
  }

  void check_ports() const {
    auto const& machine = builder_.machine();
    std::vector<int> used(gpus_.size(), 0);
    for (auto const& [ends, bundle] : links_.pairs()) {
      used[ends.first] += bundle.count;
      used[ends.second] += bundle.count;
    }
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const& links = links_.gpus()[i];
      auto const count = used[i] + links.to_switch + links.to_cpu;
      auto const* part = machine.part_of(gpus_[i].id);
      if (part == nullptr || part->spread || part->gpu.vendor != "nvidia" || count <= part->gpu.nvlink_ports) continue;
      throw InputError(
          fmt::format("the file gives '{}' {} links to others, but '{}' has {} NVLink ports; --gpu names the part",
                      machine.at(gpus_[i].id).name, count, part->name, part->gpu.nvlink_ports));
    }
  }

 private:
  [[nodiscard]] Part const* part_of(NcclPlacedGpu const& gpu) const { return builder_.machine().part_of(gpu.id); }
  [[nodiscard]] int generation(NcclPlacedGpu const& gpu) const { return nvlink_generation(part_of(gpu), gpu.sm); }

  PartId link_part(NcclPlacedGpu const& gpu) {
    auto const* part = part_of(gpu);
    return builder_.nvlink_part(generation(gpu), part == nullptr ? std::string() : part->gpu.chip);
  }

  // NCCL writes the rates of C2C lanes. A part stands for all lanes, so the count is the sum of rates over the part's.
  void add_c2c(NcclPlacedGpu const& gpu, double megabytes_per_second) {
    auto const part = builder_.part_or_stand_in("nvlink-c2c", PartKind::Link, LinkFamily::C2c);
    auto const whole = builder_.machine().at(part).link.rate;
    auto const count = whole ? std::round(megabytes_per_second * 1e6 / whole->value()) : 1;
    builder_.add_nvlink(gpu.id, gpu.socket, part, static_cast<int>(std::clamp(count, 1.0, 1024.0)));
  }

  // NCCL lists NVSwitches for each GPU and link; here they are one crossbar.
  void add_nvswitch() {
    std::vector<NvSwitch::Port> ports;
    int link_generation = 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const links = links_.gpus()[i].to_switch;
      if (links == 0) continue;
      if (ports.empty()) link_generation = generation(gpus_[i]);
      ports.push_back({gpus_[i].id, links});
    }
    if (!ports.empty()) builder_.add_nvswitch(link_generation, std::move(ports));
  }

  NcclLinks const& links_;
  std::vector<NcclPlacedGpu> const& gpus_;
  MachineBuilder& builder_;
};

}  // namespace

void add_gpu_links(NcclLinks const& links, std::vector<NcclPlacedGpu> const& gpus, MachineBuilder& builder) {
  NcclLinkAdder adder(links, gpus, builder);
  adder.add();
  adder.check_ports();
}

}  // namespace lanewise
