#pragma once
// The route of PCIe packets between two functions: through a common switch, through the fabric inside a chip, or up to
// the root complex. ACS decides at the downstream port below the common switch; where an IOMMU translates addresses,
// Linux decides by the ACS of every port on the way (core/rules/p2pdma.hpp).
#include <cstdint>
#include <optional>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Where packets turn from upstream to downstream.
enum class TurnPoint : std::uint8_t { Switch, Chip, RootComplex };

// What the ACS control of one port does to one packet (PCIe Base Specification 6.12.3).
enum class AcsEffect : std::uint8_t { Direct, Redirect, Blocked };

// For a memory request that enters a downstream port towards a peer. `translated`: its address is already translated
// (ATS).
AcsEffect acs_on_request(AcsControl control, bool translated);
// For a completion on its way back, at the port above the completer. Relaxed-ordered completions are never redirected.
AcsEffect acs_on_completion(AcsControl control, bool relaxed_ordering);

// The route of requests from an initiator to a target, and of their completions.
struct PeerRoute {
  TurnPoint request = TurnPoint::RootComplex;
  TurnPoint completion = TurnPoint::RootComplex;
  bool blocked = false;             // ACS drops the request
  bool request_unknown = false;     // ACS of the initiator's port is unknown: requests are assumed to be redirected
  bool completion_unknown = false;  // the same for the target's port and completions
  std::optional<PciId> meeting;     // the common switch; for TurnPoint::Chip the initiator's virtual switch
  std::optional<PciId> far;         // for TurnPoint::Chip the target's virtual switch
  std::optional<PciId> deciding;    // the function below the port whose ACS decided
  bool same_host_bridge = false;
  bool same_socket = false;

  // Where the data turn: those of a write with the request, those of a read with the completion.
  [[nodiscard]] TurnPoint data(bool read) const { return read ? completion : request; }
  [[nodiscard]] bool through_root_complex(bool read) const {
    return request == TurnPoint::RootComplex || (read && completion == TurnPoint::RootComplex);
  }
  // Whether ACS sends packets up to the root complex although the two have a common switch.
  [[nodiscard]] bool redirected(bool read) const { return meeting && through_root_complex(read); }
  [[nodiscard]] bool acs_unknown(bool read) const { return request_unknown || (read && completion_unknown); }
};

// Never throws. Both functions must be of one host.
PeerRoute peer_route(Machine const& machine, PciId initiator, PciId target);

}  // namespace lanewise
