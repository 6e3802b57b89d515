#include "tests/oracle/random_tree.hpp"

#include <array>
#include <string>

namespace lanewise::oracle {
namespace {

constexpr std::array<std::uint16_t, 7> kAcsBits{AcsControl::kSourceValidation,   AcsControl::kTranslationBlocking,
                                                AcsControl::kRequestRedirect,    AcsControl::kCompletionRedirect,
                                                AcsControl::kUpstreamForwarding, AcsControl::kEgressControl,
                                                AcsControl::kDirectTranslated};
constexpr std::array kIommuModes{IommuMode::Off, IommuMode::Passthrough, IommuMode::Lazy, IommuMode::Strict};

class TreeBuilder {
 public:
  TreeBuilder(std::mt19937& random, Part const& cpu) : random_(random) {
    auto& host = machine_.hosts.emplace_back();
    host.settings.iommu = kIommuModes.at(static_cast<std::size_t>(up_to(3)));
    host.settings.virtualization.ats = one_in(4);
    host.software.dma_buf = true;
    host.software.peermem = false;
    cpu_ = add_part(machine_, cpu);
    gpu_ = add_part(machine_, part("gpu", PartKind::Gpu));
    relaxed_gpu_ = add_part(machine_, part("relaxed-gpu", PartKind::Gpu));
    machine_.parts[index(relaxed_gpu_)].pcie.relaxed_ordering = true;
    nic_ = add_part(machine_, part("nic", PartKind::Nic));
    switch_ = add_part(machine_, part("switch", PartKind::Switch));
    machine_.parts[index(switch_)].pcie_switch.virtual_switch_fabric = BytesPerSecond(1e9);
  }

  Machine build() {
    per_socket_ = machine_.at(cpu_).cpu.host_bridges == HostBridges::PerSocket;
    for (int socket = up_to(1); socket >= 0; --socket) add_socket();
    return std::move(machine_);
  }

 private:
  static Part part(std::string name, PartKind kind) {
    Part made;
    made.name = std::move(name);
    made.kind = kind;
    return made;
  }
  int up_to(int last) { return std::uniform_int_distribution(0, last)(random_); }
  bool one_in(int count) { return up_to(count - 1) == 0; }

  // Mostly nothing, for most trees with a bit somewhere are redirected anyway.
  AcsControl acs() {
    if (one_in(12)) return AcsControl::on();
    if (one_in(40)) return AcsControl::unknown();
    AcsControl control;
    if (one_in(4))
      for (auto const bit : kAcsBits)
        if (one_in(4)) control.bits |= bit;
    return control;
  }

  void add_socket() {
    auto const socket = SocketId(machine_.sockets.size());
    auto const number = std::to_string(index(socket));
    machine_.sockets.push_back({"cpu" + number, HostId(0), cpu_});
    machine_.numa_nodes.push_back({"numa" + number, socket, static_cast<int>(index(socket)), {}});
    for (int ports = 1 + up_to(2); ports > 0; --ports) {
      if (!per_socket_ || machine_.host_bridges.empty() || machine_.host_bridges.back().socket != socket)
        machine_.host_bridges.push_back({"hb", socket, NumaId(index(socket))});
      auto const port = add(PciKind::RootPort, std::nullopt);
      add_occupant(port, 3);
    }
  }

  PciId add(PciKind kind, std::optional<PciId> parent) {
    PciFunction function;
    function.kind = kind;
    function.name = std::string(to_string(kind)) + std::to_string(machine_.functions.size());
    function.parent = parent;
    function.host_bridge = HostBridgeId(machine_.host_bridges.size() - 1);
    if (parent) function.acs = acs();
    if (kind == PciKind::Gpu) function.part = one_in(3) ? relaxed_gpu_ : gpu_;
    if (kind == PciKind::Nic) function.part = nic_;
    if (kind == PciKind::Switch) function.part = switch_;
    machine_.functions.push_back(std::move(function));
    return PciId(machine_.functions.size() - 1);
  }

  void add_occupant(PciId parent, int switches) {
    if (switches == 0 || one_in(3)) {
      add(one_in(2) ? PciKind::Gpu : PciKind::Nic, parent);
      return;
    }
    auto const above = add(PciKind::Switch, parent);
    if (one_in(8)) machine_.functions[index(above)].chip = "chip";
    for (int ports = 2 + up_to(1); ports > 0; --ports) add_occupant(above, switches - 1);
  }

  std::mt19937& random_;
  Machine machine_;
  PartId cpu_{}, gpu_{}, relaxed_gpu_{}, nic_{}, switch_{};
  bool per_socket_ = false;
};

}  // namespace

Machine random_tree(std::mt19937& random, std::vector<Part const*> const& cpus) {
  auto const chosen = std::uniform_int_distribution<std::size_t>(0, cpus.size() - 1)(random);
  return TreeBuilder(random, *cpus[chosen]).build();
}

}  // namespace lanewise::oracle
