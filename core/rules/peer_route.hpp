#pragma once
// How PCIe packets between two functions travel: straight through a switch, through a chip's internal fabric, or up to
// the root complex, as ACS says at the port where their ways part.
#include <cstdint>
#include <optional>

#include "core/machine/machine.hpp"

namespace lanewise {

enum class TurnPoint : std::uint8_t { Switch, Chip, RootComplex };

// What the ACS control of one port does to one packet (PCIe Base Specification 6.12.3; as Linux p2pdma reads it).
enum class AcsEffect : std::uint8_t { Direct, Redirect, Blocked };

// A memory request entering a downstream port towards a peer. `translated`: its address type says translated (ATS).
AcsEffect acs_on_request(AcsControl control, bool translated);
// A completion on its way back to the requester, through the port of the completer. Relaxed-ordered ones pass.
AcsEffect acs_on_completion(AcsControl control, bool relaxed_ordering);

// The way of requests from `initiator` to `target` and of what comes back.
struct PeerRoute {
  TurnPoint request = TurnPoint::RootComplex;
  TurnPoint completion = TurnPoint::RootComplex;
  bool blocked = false;             // ACS drops the request
  bool request_unknown = false;     // the initiator's port could not be read: requests are planned as redirected
  bool completion_unknown = false;  // nor could the target's: completions likewise
  std::optional<PciId> meeting;     // the switch above both; of Turn::Chip: the initiator's virtual switch on the chip
  std::optional<PciId> far;         // of Turn::Chip: the target's
  std::optional<PciId> deciding;    // the function below the port whose ACS decided
  bool same_host_bridge = false;
  bool same_socket = false;

  // Data of a write travels as the request does; data of a read as the completion.
  [[nodiscard]] TurnPoint data(bool read) const { return read ? completion : request; }
  [[nodiscard]] bool through_root_complex(bool read) const {
    return request == TurnPoint::RootComplex || (read && completion == TurnPoint::RootComplex);
  }
  // ACS sends packets up although a switch joins the two.
  [[nodiscard]] bool redirected(bool read) const { return meeting && through_root_complex(read); }
  [[nodiscard]] bool acs_unknown(bool read) const { return request_unknown || (read && completion_unknown); }
};

PeerRoute peer_route(Machine const& machine, PciId initiator, PciId target);

}  // namespace lanewise
