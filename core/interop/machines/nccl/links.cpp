#include "core/interop/machines/nccl/links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise {
namespace {

// NCCL src/graph/topo.cc, kvDictPciClass: 0x0680.. are NVSwitches, except 0x068001, the NVLink port of a POWER9.
constexpr std::string_view kCpuClass = "0x068001";
constexpr std::string_view kNvSwitchClass = "0x0680";

}  // namespace

bool is_gpu(NcclPci const& pci) {
  if (pci.gpu) return true;
  auto const kind = pci.device_class.value_or(0) >> 8;
  if (kind == 0x0302 || kind == 0x0380 || kind == 0x1200) return true;
  if (kind != 0x0300) return false;  // a VGA controller may also be a server's management chip
  return pci.id.empty() || pci.id.starts_with("10de:") || pci.id.starts_with("1002:") || pci.id.starts_with("8086:");
}

NcclLinks::NcclLinks(NcclSystem const& system, MachineBuilder& builder) : builder_(builder) {
  for (auto const& cpu : system.cpus)
    for (auto const& pci : cpu.pci) collect_gpus(pci);
  for (std::size_t i = 0; i < elements_.size(); ++i)
    if (elements_[i]->gpu)
      for (auto const& link : elements_[i]->gpu->links) read_link(i, link);
  join_directions();
}

void NcclLinks::collect_gpus(NcclPci const& pci) {
  if (is_gpu(pci)) {
    elements_.push_back(&pci);
    gpus_.push_back({.bus_id = pci.bus_id});
  }
  for (auto const& child : pci.below) collect_gpus(child);
}

void NcclLinks::read_link(std::size_t gpu, NcclLink const& link) {
  auto& own = gpus_[gpu];
  if (link.kind == NcclLink::Kind::C2c) {
    own.c2c += link.bandwidth * link.count;
    return;
  }
  auto const target =
      std::find_if(gpus_.begin(), gpus_.end(), [&](GpuLinks const& other) { return other.bus_id == link.target; });
  if (target != gpus_.end()) {
    auto const other = static_cast<std::size_t>(target - gpus_.begin());
    if (other == gpu) return builder_.note("links of a GPU to itself are left out");
    auto& bundle = listed_[{gpu, other}];
    bundle = {link.kind, bundle.count + link.count};
  } else if (link.kind == NcclLink::Kind::NvLink && link.target_class == kCpuClass) {
    own.to_cpu += link.count;
  } else if (link.kind == NcclLink::Kind::NvLink &&
             (link.target_class.starts_with(kNvSwitchClass) || link.target.starts_with("fff"))) {
    own.to_switch += link.count;
  } else {
    builder_.note(
        fmt::format("a link of {} leads to {}, which is no GPU of this file; left out", own.bus_id, link.target));
  }
}

void NcclLinks::join_directions() {
  for (auto const& [ends, bundle] : listed_) {
    auto const [from, to] = ends;
    auto const back = listed_.find({to, from});
    auto count = bundle.count;
    if (back != listed_.end() && back->second.count != count) {
      count = std::min(count, back->second.count);
      builder_.note(fmt::format("{} and {} give different numbers of links to each other; the smaller is taken",
                                gpus_[std::min(from, to)].bus_id, gpus_[std::max(from, to)].bus_id));
    }
    pairs_[std::minmax(from, to)] = {bundle.kind, count};
  }
  for (auto& gpu : gpus_) gpu.nvlinks = gpu.to_switch + gpu.to_cpu;
  for (auto const& [ends, bundle] : pairs_) {
    if (bundle.kind != NcclLink::Kind::NvLink) continue;
    gpus_[ends.first].nvlinks += bundle.count;
    gpus_[ends.second].nvlinks += bundle.count;
  }
}

}  // namespace lanewise
