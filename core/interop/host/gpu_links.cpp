#include "core/interop/host/gpu_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/interop/machines/nccl/parts.hpp"

namespace lanewise {
namespace {

class HostLinkAdder {
 public:
  HostLinkAdder(HostFacts const& facts, std::vector<PlacedGpu> const& gpus, MachineBuilder& builder)
      : facts_(facts), gpus_(gpus), builder_(builder) {}

  void add() {
    for (auto const& gpu : facts_.nvml.gpus)
      if (auto const* placed = find(gpu.bdf)) count(gpu, *placed);
    infer_fabric();
    add_pairs();
    add_xgmi();
    for (auto const& [gpu, links] : to_cpu_) builder_.add_nvlink(gpu->id, gpu->socket, link_part(*gpu), links);
    for (auto const* gpu : c2c_) {
      auto const part = builder_.part_or_stand_in("nvlink-c2c", PartKind::Link, LinkFamily::C2c);
      builder_.add_nvlink(gpu->id, gpu->socket, part, 1);
    }
    infer_switch();
    add_switch();
  }

 private:
  [[nodiscard]] PlacedGpu const* find(std::string_view bdf) const {
    auto const found = std::find_if(gpus_.begin(), gpus_.end(), [&](PlacedGpu const& gpu) { return gpu.bdf == bdf; });
    return found == gpus_.end() ? nullptr : &*found;
  }

  void count(NvmlGpu const& gpu, PlacedGpu const& placed) {
    if (gpu.c2c) c2c_.push_back(&placed);
    for (auto const& link : gpu.links) {
      auto const* other = link.remote_bdf == gpu.bdf ? nullptr : find(link.remote_bdf);
      if (other != nullptr)
        ++listed_[{&placed, other}];
      else if (link.remote == NvlinkRemote::Switch)
        ++to_switch_[&placed];
      else if (link.remote == NvlinkRemote::Cpu)
        ++to_cpu_[&placed];
      else
        ++unknown_[&placed];
    }
  }

  PartId link_part(PlacedGpu const& gpu) {
    auto const* part = builder_.machine().part_of(gpu.id);
    return builder_.nvlink_part(generation(gpu), part == nullptr ? std::string() : part->gpu.chip);
  }
  [[nodiscard]] int generation(PlacedGpu const& gpu) const {
    std::string sm;
    for (auto const& cuda : facts_.cuda.gpus)
      if (cuda.bdf == gpu.bdf) sm = cuda.compute_capability;
    for (auto const& nvml : facts_.nvml.gpus)
      if (sm.empty() && nvml.bdf == gpu.bdf) sm = nvml.compute_capability;
    std::erase(sm, '.');
    return nvlink_generation(builder_.machine().part_of(gpu.id), sm);
  }

  void add_pairs() {
    for (auto const& [ends, links] : listed_) {
      auto const [a, b] = ends;
      auto const back = listed_.find({b, a});
      auto const both = back == listed_.end() ? links : std::min(links, back->second);
      if (back != listed_.end() && a > b) continue;  // once for each pair
      if (back == listed_.end() || back->second != links)
        builder_.note(fmt::format("{} and {} list different numbers of NVLinks to each other; the smaller is taken",
                                  a->bdf, b->bdf));
      builder_.add_nvlink(a->id, b->id, link_part(*a), both);
    }
  }

  // A fabric manager that has finished joined GPUs of which the source lists no links.
  void infer_fabric() {
    if (!listed_.empty() || !to_switch_.empty() || !unknown_.empty()) return;
    for (auto const& gpu : facts_.nvml.gpus) {
      auto const* placed = find(gpu.bdf);
      auto const* part = placed == nullptr ? nullptr : builder_.machine().part_of(placed->id);
      if (part != nullptr && gpu.fabric == FabricState::Completed && part->gpu.nvlink_ports > 0)
        to_switch_[placed] = part->gpu.nvlink_ports;
    }
    if (!to_switch_.empty())
      builder_.note(fmt::format(
          "inferred: NVSwitches with every link of each GPU, for {} says that the fabric is ready but lists "
          "no links",
          facts_.source));
  }

  // Pairs that are more than one hop apart have no link of their own.
  void add_xgmi() {
    for (auto const& pair : facts_.xgmi) {
      auto const* a = find(pair.a);
      auto const* b = find(pair.b);
      if (a == nullptr || b == nullptr || a == b || pair.hops > 1) continue;
      if (is_nvidia(*a) || is_nvidia(*b)) {
        builder_.note(fmt::format("contradiction: xGMI joins {} and {}, of which one is a GPU of NVIDIA; left out",
                                  a->bdf, b->bdf));
        continue;
      }
      auto const part = builder_.gpu_xgmi_part(builder_.machine().part_of(a->id));
      builder_.add_nvlink(a->id, b->id, part, xgmi_links(pair, builder_.machine().at(part)));
    }
  }
  [[nodiscard]] bool is_nvidia(PlacedGpu const& gpu) const {
    auto const* part = builder_.machine().part_of(gpu.id);
    return part != nullptr && part->gpu.vendor == "nvidia";
  }
  int xgmi_links(XgmiFacts const& pair, Part const& link) {
    constexpr long kMaxLinks = 16;
    if (pair.links > 0) return pair.links;
    if (pair.bandwidth && link.link.rate)
      return static_cast<int>(std::clamp(std::lround(*pair.bandwidth / *link.link.rate), 1L, kMaxLinks));
    builder_.note(
        fmt::format("{} does not say how many xGMI links join two GPUs; one is taken for each pair", facts_.source));
    return 1;
  }

  // In a guest NVML may not say where a link leads. Then GPUs that all reach each other must be joined by an NVSwitch.
  void infer_switch() {
    if (unknown_.empty()) return;
    std::vector<std::string> lines;
    for (auto const& [gpu, links] : unknown_)
      lines.push_back(fmt::format("{} of {}", links, builder_.machine().at(gpu->id).name));
    std::sort(lines.begin(), lines.end());
    bool reach = unknown_.size() > 1;
    for (auto const& [a, links] : unknown_)
      for (auto const& [b, others] : unknown_) {
        auto const* pair = find_pair(facts_.nvml, a->bdf, b->bdf);
        reach = reach && (a == b || (pair != nullptr && pair->status[index_of(PeerOp::Nvlink)] == PeerStatus::Ok));
      }
    if (!reach || !to_switch_.empty() || !listed_.empty())
      return builder_.note(
          fmt::format("what these NVLinks lead to is not known, and they are left out: {}", fmt::join(lines, ", ")));
    to_switch_ = unknown_;
    builder_.note(
        fmt::format("inferred: NVSwitches, for NVML does not say what these NVLinks lead to ({}) but every GPU reaches "
                    "every other over NVLink",
                    fmt::join(lines, ", ")));
  }
  static std::size_t index_of(PeerOp op) { return static_cast<std::size_t>(op); }

  void add_switch() {
    std::vector<NvSwitch::Port> ports;
    int link_generation = 0;
    for (auto const& gpu : gpus_) {
      auto const links = to_switch_.find(&gpu);
      if (links == to_switch_.end()) continue;
      if (ports.empty()) link_generation = generation(gpu);
      ports.push_back({gpu.id, links->second});
    }
    if (!ports.empty()) builder_.add_nvswitch(link_generation, std::move(ports));
  }

  HostFacts const& facts_;
  std::vector<PlacedGpu> const& gpus_;
  MachineBuilder& builder_;
  // Pointers into one vector order as its elements do.
  std::map<PlacedGpu const*, int> to_switch_, to_cpu_, unknown_;
  std::map<std::pair<PlacedGpu const*, PlacedGpu const*>, int> listed_;
  std::vector<PlacedGpu const*> c2c_;
};

}  // namespace

void add_gpu_links(HostFacts const& facts, std::vector<PlacedGpu> const& gpus, MachineBuilder& builder) {
  HostLinkAdder(facts, gpus, builder).add();
}

NvmlPair const* find_pair(NvmlFacts const& nvml, std::string const& from, std::string const& to) {
  auto const found = std::find_if(nvml.pairs.begin(), nvml.pairs.end(),
                                  [&](NvmlPair const& pair) { return pair.from == from && pair.to == to; });
  return found == nvml.pairs.end() ? nullptr : &*found;
}

bool fabric_is_ready(HostFacts const& facts) {
  auto const waits = [](NvmlGpu const& gpu) {
    return gpu.fabric == FabricState::NotStarted || gpu.fabric == FabricState::InProgress;
  };
  return std::none_of(facts.nvml.gpus.begin(), facts.nvml.gpus.end(), waits);
}

bool refusal_is_lifted(HostFacts const& facts, Machine const& machine) {
  for (auto const& pair : facts.nvml.pairs) {
    auto const status = [&](PeerOp op) { return pair.status.at(static_cast<std::size_t>(op)); };
    if (status(PeerOp::Write) != PeerStatus::Ok || status(PeerOp::Nvlink) == PeerStatus::Ok) continue;
    for (auto const& function : machine.functions)
      if (function.bdf == pair.from && function.part && !machine.at(*function.part).gpu.pcie_peer &&
          machine.at(*function.part).kind == PartKind::Gpu)
        return true;
  }
  return false;
}

}  // namespace lanewise
