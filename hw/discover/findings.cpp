// Compares the sources: the driver with the rules, the tree and the parts; links with what they could be.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/interop/host/gpu_links.hpp"
#include "core/interop/machines/topo_comparison.hpp"
#include "core/machine/path_class.hpp"
#include "hw/discover/discovery.hpp"
#include "lanewise/rules/rule.hpp"

namespace lanewise::hw {
namespace {

// As `nvidia-smi topo -p2p` abbreviates them.
std::string_view words(PeerStatus status) {
  constexpr std::array<std::string_view, 8> kWords{"OK",
                                                   "CNS (chipset not supported)",
                                                   "GNS (GPU not supported)",
                                                   "TNS (topology not supported)",
                                                   "DR (disabled by a registry key)",
                                                   "NS (not supported)",
                                                   "U (unknown)",
                                                   "nothing"};
  return kWords.at(static_cast<std::size_t>(status));
}
std::string_view words(PeerOp op) {
  constexpr std::array<std::string_view, kPeerOps> kWords{"read", "write", "nvlink", "atomics", "pci"};
  return kWords.at(static_cast<std::size_t>(op));
}

// What the rules say about one access.
struct RulesAnswer {
  std::string legal;    // a mechanism that is legal, "nvlink"; empty: none is
  std::string refused;  // the rule that refuses: for NVLink where the two GPUs have any, else for PCIe
};

class FindingCollector {
 public:
  FindingCollector(Machine const& machine, HostFacts const& facts) : machine_(machine), facts_(facts) {}

  std::vector<Finding> collect() {
    for (auto const& pair : facts_.nvml.pairs) {
      auto const from = gpu(pair.from);
      auto const to = gpu(pair.to);
      if (!from || !to) continue;
      for (std::size_t op = 0; op < kPeerOps; ++op) compare_peer(*from, *to, PeerOp(op), pair.status.at(op));
      compare_ancestor(*from, *to, pair);
    }
    for (auto const& pair : facts_.cuda.pairs) compare_cuda(pair);
    for (std::size_t i = 0; i < machine_.functions.size(); ++i) check_link(PciId(i));
    for (auto const& gpu : facts_.cuda.gpus) check_gpu(gpu);
    check_missing();
    return std::move(findings_);
  }

 private:
  // Adds a finding. Where there is one with the same text, that gets another subject instead.
  void add(FindingKind kind, std::string subject, std::string text, std::string rule = {}) {
    auto const same = std::find_if(findings_.begin(), findings_.end(), [&](Finding const& finding) {
      return finding.kind == kind && finding.text == text && finding.rule == rule;
    });
    if (same != findings_.end())
      same->subjects.push_back(std::move(subject));
    else
      findings_.push_back({kind, {std::move(subject)}, std::move(text), std::move(rule)});
  }

  [[nodiscard]] std::optional<PciId> gpu(std::string_view bdf) const {
    for (auto const id : machine_.all(PciKind::Gpu))
      if (machine_.at(id).bdf == bdf) return id;
    return std::nullopt;
  }
  [[nodiscard]] std::string pair_name(PciId from, PciId to) const {
    return fmt::format("{} > {}", machine_.at(from).name, machine_.at(to).name);
  }

  // NVML reports the first GPU's access to the second's memory, so a read moves data from the second to the first.
  [[nodiscard]] RulesAnswer ask_rules(PciId from, PciId to, PeerOp op) const {
    bool const read = op == PeerOp::Read;
    Attempt attempt{.machine = machine_, .from = read ? to : from, .to = read ? from : to, .op = Op::Write, .way = {}};
    if (read) attempt.op = Op::Read;
    if (op == PeerOp::Atomics) attempt.op = Op::Atomic;
    attempt.way.drive = read ? Drive::Pull : Drive::Push;
    RulesAnswer answer;
    auto const ask = [&](Mechanism mechanism) {
      attempt.way.mechanism = mechanism;
      auto const* const rule = refusal(attempt);
      if (rule != nullptr && (answer.refused.empty() || answer.refused == "NVLINK-NONE")) answer.refused = rule->id;
      if (rule == nullptr && answer.legal.empty()) answer.legal = to_string(mechanism);
    };
    if (op != PeerOp::Pci) ask(Mechanism::Nvlink);
    if (op != PeerOp::Nvlink) ask(Mechanism::PcieP2p);
    return answer;
  }

  void compare_peer(PciId from, PciId to, PeerOp op, PeerStatus status) {
    if (status == PeerStatus::Unknown || status == PeerStatus::NotReported) return;
    // For GPUs with NVLink the driver answers for PCIe, but then uses NVLink.
    if (op == PeerOp::Pci && nvlink_count(machine_, from, to) > 0) return;
    auto const answer = ask_rules(from, to, op);
    bool const driver_allows = status == PeerStatus::Ok;
    if (driver_allows == !answer.legal.empty()) return;
    auto const driver_text = fmt::format("{}: the driver says {}, ", words(op), words(status));
    if (driver_allows)
      add(FindingKind::PeerStatus, pair_name(from, to),
          fmt::format("{}rule {} refuses it", driver_text, answer.refused), answer.refused);
    else
      add(FindingKind::PeerStatus, pair_name(from, to),
          fmt::format("{}the rules say {} is legal", driver_text, answer.legal));
  }

  void compare_ancestor(PciId from, PciId to, NvmlPair const& pair) {
    auto const ours = path_class(machine_, from, to);
    if (pair.ancestor && *pair.ancestor != PathClass::Self && *pair.ancestor != ours)
      add(FindingKind::Distance, pair_name(from, to),
          fmt::format("the driver says {}, the machine {}", to_string(*pair.ancestor), to_string(ours)));
  }

  void compare_cuda(CudaPair const& pair) {
    auto const from = gpu(pair.from);
    auto const to = gpu(pair.to);
    auto const* const nvml = find_pair(facts_.nvml, pair.from, pair.to);
    if (!from || !to || nvml == nullptr) return;
    auto const read = nvml->status.at(static_cast<std::size_t>(PeerOp::Read));
    auto const write = nvml->status.at(static_cast<std::size_t>(PeerOp::Write));
    bool const allows = read == PeerStatus::Ok && write == PeerStatus::Ok;
    if (allows != pair.access && read != PeerStatus::NotReported)
      add(FindingKind::PeerStatus, pair_name(*from, *to),
          fmt::format("CUDA {} peer access, NVML says {} for reads and {} for writes",
                      pair.access ? "offers" : "refuses", words(read), words(write)));
  }

  void check_link(PciId id) {
    auto const& function = machine_.at(id);
    if (!function.link || !function.max_link || negotiated(*function.link, *function.max_link) == *function.max_link)
      return;
    bool const slower_only = function.link->width == function.max_link->width && function.kind == PciKind::Gpu;
    add(FindingKind::SlowLink, function.name,
        fmt::format("its PCIe link runs at {}, both its ends can do {}{}", to_string(*function.link),
                    to_string(*function.max_link),
                    slower_only && facts_.cuda.gpus.empty() ? "; it may be idle, for it could not be woken" : ""));
  }

  void check_gpu(CudaGpu const& cuda) {
    auto const id = gpu(cuda.bdf);
    auto const* part = id ? machine_.part_of(*id) : nullptr;
    if (part == nullptr || part->inlined) return;
    auto const differs = [&](std::string_view what, auto ours, auto theirs) {
      if (ours && *ours != theirs)
        add(FindingKind::DeviceFigure, machine_.at(*id).name,
            fmt::format("the driver counts {} {}, its part '{}' has {}", theirs, what, part->name, *ours));
    };
    differs("multiprocessors", part->gpu.multiprocessors, cuda.multiprocessors);
    differs("copy engines", part->gpu.copy_engines, cuda.copy_engines);
    for (auto const& nvml : facts_.nvml.gpus)
      if (nvml.bdf == cuda.bdf && nvml.bar1 && part->gpu.bar1 && *nvml.bar1 != *part->gpu.bar1)
        add(FindingKind::DeviceFigure, machine_.at(*id).name,
            fmt::format("its BAR1 is {}, its part '{}' has {}", exact_text(*nvml.bar1), part->name,
                        exact_text(*part->gpu.bar1)));
  }

  void check_missing() {
    auto const has = [](auto const& gpus, std::string_view bdf) {
      return std::any_of(gpus.begin(), gpus.end(), [&](auto const& gpu) { return gpu.bdf == bdf; });
    };
    for (auto const id : machine_.all(PciKind::Gpu)) {
      auto const& [name, bdf] = std::pair(machine_.at(id).name, machine_.at(id).bdf);
      if (facts_.nvml.probe.found && !has(facts_.nvml.gpus, bdf))
        add(FindingKind::Missing, name, "the system has it, NVML does not list it");
      if (facts_.cuda.probe.found && !has(facts_.cuda.gpus, bdf))
        add(FindingKind::Missing, name, "the system has it, CUDA does not list it (CUDA_VISIBLE_DEVICES hides GPUs)");
    }
    for (auto const& nic : facts_.nics)
      if (nic.rdma && nic.in_verbs == false)
        add(FindingKind::Missing, nic.name,
            facts_.verbs.probe.found ? "the kernel has this RDMA device, libibverbs has no provider for it"
                                     : "the kernel has this RDMA device, but there is no libibverbs");
  }

  Machine const& machine_;
  HostFacts const& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view to_string(FindingKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"peer_status", "distance", "slow_link", "device_figure", "missing"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<Finding> findings_of(Machine const& machine, HostFacts const& facts) {
  return FindingCollector(machine, facts).collect();
}

std::vector<Finding> findings_against(Machine const& machine, TopoMatrix const& matrix) {
  std::vector<Finding> findings;
  for (auto& difference : topo_differences(machine, matrix))
    findings.push_back({FindingKind::Distance, {std::move(difference.subject)}, std::move(difference.text), {}});
  return findings;
}

}  // namespace lanewise::hw
