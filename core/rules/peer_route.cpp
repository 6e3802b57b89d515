#include "core/rules/peer_route.hpp"

#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

// The ancestor of `id` (or itself) that hangs directly from `above`.
PciId child_towards(Machine const& machine, PciId id, PciId above) {
  while (machine.at(id).parent && *machine.at(id).parent != above) id = *machine.at(id).parent;
  return id;
}

std::optional<PciId> topmost_switch(Machine const& machine, PciId id) {
  std::optional<PciId> top;
  for (auto up = machine.at(id).parent; up; up = machine.at(*up).parent)
    if (machine.at(*up).kind == PciKind::Switch) top = up;
  return top;
}

bool share_chip(Machine const& machine, std::optional<PciId> a, std::optional<PciId> b) {
  if (!a || !b || machine.at(*a).chip.empty() || machine.at(*a).chip != machine.at(*b).chip) return false;
  auto const* part = machine.part_of(*a);
  return part != nullptr && part->pcie_switch.virtual_switch_fabric.has_value();
}

// Translation blocking is checked at every downstream port that the initiator's packet climbs through, up to `stop` or
// the root complex.
bool blocked_climbing(Machine const& machine, PciId initiator, std::optional<PciId> stop, bool translated) {
  for (std::optional<PciId> at = initiator; at && at != stop; at = machine.at(*at).parent) {
    bool const below_a_port = machine.at(*at).parent.has_value();  // not on the root bus itself
    if (below_a_port && acs_on_request(machine.acs_above(*at), translated) == AcsEffect::Blocked) return true;
  }
  return false;
}

Turn turn_of(AcsEffect effect) { return effect == AcsEffect::Direct ? Turn::Switch : Turn::RootComplex; }

}  // namespace

AcsEffect acs_on_request(AcsControl control, bool translated) {
  if (!control.known) return AcsEffect::Redirect;
  if (control.has(AcsControl::kTranslationBlocking) && translated) return AcsEffect::Blocked;
  if (control.has(AcsControl::kDirectTranslated) && translated) return AcsEffect::Direct;
  if (control.has(AcsControl::kRequestRedirect)) return AcsEffect::Redirect;
  // The egress vector is not part of the description: as the kernel's test does without it, redirect.
  if (control.has(AcsControl::kEgressControl)) return AcsEffect::Redirect;
  return AcsEffect::Direct;
}

AcsEffect acs_on_completion(AcsControl control, bool relaxed_ordering) {
  if (relaxed_ordering) return AcsEffect::Direct;
  if (!control.known || control.has(AcsControl::kCompletionRedirect)) return AcsEffect::Redirect;
  return AcsEffect::Direct;
}

PeerRoute peer_route(Machine const& machine, PciId initiator, PciId target) {
  PeerRoute route;
  route.same_host_bridge = machine.at(initiator).host_bridge == machine.at(target).host_bridge;
  route.same_socket = machine.socket_of(initiator) == machine.socket_of(target);
  auto const& settings = machine.at(machine.host_of(initiator)).settings;
  bool const translated = settings.virtualization.ats && translates(settings.iommu);
  route.meeting = common_switch(machine, initiator, target);
  route.blocked = blocked_climbing(machine, initiator, route.meeting, translated);
  if (route.meeting) {
    auto const initiator_port = child_towards(machine, initiator, *route.meeting);
    auto const target_port = child_towards(machine, target, *route.meeting);
    auto const control = machine.acs_above(initiator_port);
    auto const request = acs_on_request(control, translated);
    auto const completion = acs_on_completion(machine.acs_above(target_port), false);
    route.deciding = initiator_port;
    route.request = turn_of(request);
    route.completion = turn_of(completion);
    route.acs_unknown = !control.known;
    route.redirected = route.request == Turn::RootComplex || route.completion == Turn::RootComplex;
    return route;
  }
  auto const top = topmost_switch(machine, initiator);
  if (share_chip(machine, top, topmost_switch(machine, target))) {
    // Measured on a PEX890xx split in virtual switches: ACS on the downstream ports does not change this way.
    route.meeting = top;
    route.request = Turn::Chip;
    route.completion = Turn::Chip;
  }
  return route;
}

}  // namespace lanewise
