#pragma once
// PCI configuration space as the kernel shows it: the capabilities that decide how packets travel. What could not be
// read stays unknown; a feature is off only when its absence was read.
#include <cstdint>
#include <optional>
#include <span>

#include "lanewise/machine/machine.hpp"
#include "lanewise/machine/pcie_link.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

// Device/Port Type of the PCI Express capability (PCI Express Base Specification, 7.5.3.2).
enum class PortType : std::uint8_t { Unknown, Endpoint, RootPort, SwitchUpstream, SwitchDownstream, Integrated, Other };

struct PciConfig {
  bool has_capabilities = false;  // the first 256 bytes were read: without root it is only 64
  bool has_extended = false;      // and the extended space behind them
  PortType port_type = PortType::Unknown;
  std::optional<PcieLink> link;  // Link Status
  std::optional<PcieLink> max_link;
  std::optional<Bytes> max_payload;  // as set: MPS and MRRS
  std::optional<Bytes> max_read_request;
  std::optional<bool> relaxed_ordering;  // enabled
  std::optional<int> tags;               // 32, 256 or 1024, as enabled
  std::optional<bool> ari;               // has the capability
  AcsControl acs = AcsControl::unknown();
  std::optional<int> peer_clique;  // NVIDIA's GPUDirect P2P approval capability, set by a hypervisor
  friend bool operator==(PciConfig const&, PciConfig const&) = default;
};

// Accepts any bytes: a list of capabilities that loops or leaves the space ends there.
PciConfig read_pci_config(std::span<std::uint8_t const> bytes);

}  // namespace lanewise
