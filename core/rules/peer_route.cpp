#include "core/rules/peer_route.hpp"

#include "core/machine/path_class.hpp"
#include "core/rules/p2pdma.hpp"

namespace lanewise {
namespace {

// The ancestor of `id`, or itself, that is a direct child of `above`.
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

// ACS on the downstream ports does not change the route inside a chip: measured on a PEX890xx with virtual switches.
PeerRoute route_over_chip(PeerRoute route, PciId near, PciId far) {
  route.meeting = near;
  route.far = far;
  route.request = TurnPoint::Chip;
  route.completion = TurnPoint::Chip;
  return route;
}

// Translation blocking applies at every port through which a translated request goes up, up to the one above `last`.
bool is_blocked_upstream(Machine const& machine, PciId initiator, std::optional<PciId> last) {
  for (auto at = initiator; machine.at(at).parent; at = *machine.at(at).parent) {
    if (acs_on_request(machine.acs_above(at), true) == AcsEffect::Blocked) return true;
    if (at == last) break;
  }
  return false;
}

// Whether the initiator gets an address that only the IOMMU knows, so that no switch can route its requests to the
// target: it translates (ATS does not do it for the device), and Linux does not give the bus address.
bool goes_to_iommu(Machine const& machine, PciId initiator, PciId target) {
  auto const& settings = machine.at(machine.host_of(initiator)).settings;
  return translates(settings.iommu) && !settings.virtualization.passthrough && !settings.virtualization.ats &&
         p2pdma_mapping(machine, target, initiator) != P2pdmaMapping::BusAddress;
}

// A blocked request goes nowhere; it is shown on the redirected route.
TurnPoint turn_of(AcsEffect effect) { return effect == AcsEffect::Direct ? TurnPoint::Switch : TurnPoint::RootComplex; }

}  // namespace

AcsEffect acs_on_request(AcsControl control, bool translated) {
  if (!control.known) return AcsEffect::Redirect;
  if (control.has(AcsControl::kTranslationBlocking) && translated) return AcsEffect::Blocked;
  if (control.has(AcsControl::kDirectTranslated) && translated) return AcsEffect::Direct;
  if (control.has(AcsControl::kRequestRedirect)) return AcsEffect::Redirect;
  // Machine files do not have the egress control vector. Linux p2pdma ignores it too and assumes a redirect.
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
  bool const to_iommu = goes_to_iommu(machine, initiator, target);
  route.meeting = common_switch(machine, initiator, target);
  if (route.meeting) {
    auto const initiator_port = child_towards(machine, initiator, *route.meeting);
    auto const target_port = child_towards(machine, target, *route.meeting);
    if (!to_iommu && share_chip(machine, initiator_port, target_port))
      return route_over_chip(route, initiator_port, target_port);
    auto const initiator_acs = machine.acs_above(initiator_port);
    auto const target_acs = machine.acs_above(target_port);
    route.deciding = initiator_port;
    route.request = to_iommu ? TurnPoint::RootComplex : turn_of(acs_on_request(initiator_acs, translated));
    auto const* part = machine.part_of(initiator);
    bool const relaxed = part != nullptr && part->pcie.relaxed_ordering.value_or(false);
    route.completion = turn_of(acs_on_completion(target_acs, relaxed));
    route.request_unknown = !initiator_acs.known;
    route.completion_unknown = !target_acs.known;
    auto const last = route.request == TurnPoint::Switch ? std::optional(initiator_port) : std::nullopt;
    route.blocked = translated && is_blocked_upstream(machine, initiator, last);
    return route;
  }
  auto const top = topmost_switch(machine, initiator);
  auto const other = topmost_switch(machine, target);
  if (!to_iommu && share_chip(machine, top, other)) return route_over_chip(route, *top, *other);
  route.blocked = translated && is_blocked_upstream(machine, initiator, std::nullopt);
  return route;
}

}  // namespace lanewise
