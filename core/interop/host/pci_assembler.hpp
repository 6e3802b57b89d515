#pragma once
// Adds the PCI tree to the machine that discovery builds: root ports, switches and devices.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/host/gpu_links.hpp"
#include "core/interop/host/pci_tree.hpp"
#include "core/interop/machines/machine_builder.hpp"

namespace lanewise {

// What was seen on the way.
struct PciObservations {
  std::vector<PlacedGpu> gpus;
  std::map<int, std::vector<std::string>> cliques;  // names of GPUs, by the number of their peer clique
  std::vector<std::string> without_link;            // devices whose PCIe link no source knows
  std::vector<std::string> link_from_driver;        // devices whose PCIe link only NVML knows
  std::vector<std::size_t> flat;                    // nodes of GPUs and RDMA NICs on a root bus
  std::vector<std::string> without_port;            // addresses of devices of which nobody knows what is above
  std::vector<std::string> woken;                   // GPUs whose link was asleep, so that its capable speed is taken
  std::size_t unknown_acs = 0;                      // ports whose ACS control could not be read
};

class PciAssembler {
 public:
  // `roles`: of an emulated machine's stand-ins. All must outlive this, which may correct links in `tree`.
  PciAssembler(HostFacts const& facts, std::optional<std::vector<Role>> const& roles, PciTree& tree,
               MachineBuilder& builder);

  // Adds a node on a root bus with everything below it.
  void add_top(std::size_t top, HostBridgeId bridge, SocketId socket);
  [[nodiscard]] PciObservations const& found() const { return found_; }

 private:
  using Node = PciTree::Node;
  [[nodiscard]] Node const& at(std::size_t node) const { return tree_.nodes[node]; }
  void number_gpus();
  std::string name_of(Node const& node, PciKind kind);
  void add_below(std::size_t port, PciId parent, HostBridgeId bridge, SocketId socket);
  void add_switch(std::size_t upstream, std::optional<std::size_t> port, PciId parent, HostBridgeId bridge,
                  SocketId socket);
  std::optional<std::size_t> device_on_card(std::size_t upstream);
  [[nodiscard]] bool is_further_port(std::size_t node, std::vector<std::size_t> const& beside) const;
  [[nodiscard]] bool has_rdma(Node const& node) const;
  void describe(PciFunction& function, std::size_t node, std::optional<std::size_t> port, std::optional<PciId> parent,
                HostBridgeId bridge);
  void add_device(std::size_t node, std::optional<std::size_t> port, std::optional<PciId> parent, HostBridgeId bridge,
                  SocketId socket);
  void wake(PciFunction& gpu, std::optional<PcieLink> own);
  PciId add_function(PciFunction function);
  void add_gpu(PciFunction function, std::size_t node, SocketId socket);
  void add_nic(PciFunction function, std::size_t node);

  HostFacts const& facts_;
  PciTree& tree_;
  MachineBuilder& builder_;
  std::set<std::string> taken_;                   // names that the roles file gives
  std::map<std::string, std::string> gpu_names_;  // by PCI address
  PciObservations found_;
};

}  // namespace lanewise
