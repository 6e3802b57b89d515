#pragma once
// The PCI functions as a tree, with what each is good for: a device that transfers have to do with, or none.
#include <optional>
#include <string>
#include <vector>

#include "core/interop/machines/roles.hpp"
#include "core/machine/catalogue.hpp"
#include "hw/discover/facts.hpp"

namespace lanewise::hw {

struct PciTree {
  struct Node {
    PciFacts facts;
    PortType port = PortType::Unknown;  // of a bridge; from its place in the tree where config space was not readable
    std::optional<PciKind> kind;        // absent: nothing that transfers have to do with, or a bridge
    Role const* role = nullptr;
    std::vector<std::size_t> below;
    bool wanted = false;  // a device of a kind, or a bridge with one below it
  };
  std::vector<Node> nodes;
  std::vector<std::size_t> tops;   // on root buses, ascending by root bus and address
  std::vector<std::string> notes;  // what was left out
};

// GPUs that a driver knows and sysfs does not show are added on the root bus.
PciTree make_pci_tree(Facts const& facts, std::optional<std::vector<Role>> const& roles, Catalogue& catalogue);

}  // namespace lanewise::hw
