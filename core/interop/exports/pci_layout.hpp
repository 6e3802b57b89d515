#pragma once
// The PCI functions that a system with this machine would show: machine files leave out downstream ports, and addresses
// that nobody knows.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

enum class ExportedPort : std::uint8_t { RootPort, SwitchUpstream, SwitchDownstream, Endpoint };

struct ExportedFunction {
  ExportedPort port = ExportedPort::Endpoint;
  PciId function{};                   // of the machine; of a downstream port: the function below it
  std::optional<std::size_t> parent;  // into PciLayout::functions; absent: on a root bus
  HostBridgeId bridge{};
  std::string bdf;                     // "0000:3b:00.0"
  int secondary = 0, subordinate = 0;  // of a bridge: the buses below it, without the domain
};

struct PciLayout {
  std::vector<std::string> root_buses;      // "0000:3a", by host bridge
  std::vector<ExportedFunction> functions;  // parents before children
};

// Addresses that the machine gives are kept; the others are the next that are free. Throws PlanError for a cluster.
PciLayout pci_layout(Machine const& machine);

// The address of every GPU by the layout.
std::string const& address_of(PciLayout const& layout, PciId device);

}  // namespace lanewise
