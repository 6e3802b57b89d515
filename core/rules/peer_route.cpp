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

// Measured on a PEX890xx split in virtual switches: ACS on the downstream ports does not change this way.
PeerRoute over_chip(PeerRoute route, PciId near, PciId far) {
  route.meeting = near;
  route.far = far;
  route.request = TurnPoint::Chip;
  route.completion = TurnPoint::Chip;
  return route;
}

// Translation blocking is checked at every port that a translated request climbs through, up to the one above `last`.
bool blocked_on_the_way_up(Machine const& machine, PciId initiator, std::optional<PciId> last) {
  for (auto at = initiator; machine.at(at).parent; at = *machine.at(at).parent) {
    if (acs_on_request(machine.acs_above(at), true) == AcsEffect::Blocked) return true;
    if (at == last) break;
  }
  return false;
}

// A blocked request goes nowhere; its route is drawn as if redirected.
TurnPoint turn_of(AcsEffect effect) { return effect == AcsEffect::Direct ? TurnPoint::Switch : TurnPoint::RootComplex; }

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
  if (route.meeting) {
    auto const initiator_port = child_towards(machine, initiator, *route.meeting);
    auto const target_port = child_towards(machine, target, *route.meeting);
    if (share_chip(machine, initiator_port, target_port)) return over_chip(route, initiator_port, target_port);
    auto const asked = machine.acs_above(initiator_port);
    auto const answered = machine.acs_above(target_port);
    route.deciding = initiator_port;
    route.request = turn_of(acs_on_request(asked, translated));
    auto const* part = machine.part_of(initiator);
    bool const relaxed = part != nullptr && part->pcie.relaxed_ordering.value_or(false);
    route.completion = turn_of(acs_on_completion(answered, relaxed));
    route.request_unknown = !asked.known;
    route.completion_unknown = !answered.known;
    auto const last = route.request == TurnPoint::Switch ? std::optional(initiator_port) : std::nullopt;
    route.blocked = translated && blocked_on_the_way_up(machine, initiator, last);
    return route;
  }
  auto const top = topmost_switch(machine, initiator);
  auto const other = topmost_switch(machine, target);
  if (share_chip(machine, top, other)) return over_chip(route, *top, *other);
  route.blocked = translated && blocked_on_the_way_up(machine, initiator, std::nullopt);
  return route;
}

}  // namespace lanewise
