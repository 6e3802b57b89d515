#pragma once
// The PCI functions as a tree. Each node says whether it is a device that transfers involve.
#include <optional>
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/machines/roles.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

struct PciTree {
  struct Node {
    PciFacts facts;
    PortType port = PortType::Unknown;  // of a bridge; from its place in the tree where config space could not be read
    std::optional<PciKind> kind;        // absent: a bridge, or a device that no transfer involves
    Role const* role = nullptr;
    std::vector<std::size_t> below;
    bool wanted = false;  // a device with a kind, or a bridge above one
  };
  std::vector<Node> nodes;
  std::vector<std::size_t> tops;   // on root buses, ascending by root bus and address
  std::vector<std::string> notes;  // what was left out
};

// Adds GPUs that a driver knows but sysfs does not show to the root bus.
PciTree make_pci_tree(HostFacts const& facts, std::optional<std::vector<Role>> const& roles, Catalogue& catalogue);

}  // namespace lanewise
