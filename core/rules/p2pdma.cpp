#include "core/rules/p2pdma.hpp"

#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

bool redirects(AcsControl control) {
  constexpr auto kRedirects =
      AcsControl::kRequestRedirect | AcsControl::kCompletionRedirect | AcsControl::kEgressControl;
  return !control.known || control.has(kRedirects);
}

// Whether a port between a function and the switch above it redirects.
bool any_port_redirects(Machine const& machine, PciId function, PciId above) {
  for (auto at = function; at != above && machine.at(at).parent; at = *machine.at(at).parent)
    if (redirects(machine.acs_above(at))) return true;
  return false;
}

// Whether Linux lets peer requests through the host bridge above a function.
bool accepts(Machine const& machine, PciId function, bool same_host_bridge) {
  auto const* cpu = machine.part_of(machine.socket_of(function));
  if (cpu == nullptr) return false;
  return cpu->cpu.p2pdma == P2pdma::Yes || (cpu->cpu.p2pdma == P2pdma::SameHostBridge && same_host_bridge);
}

}  // namespace

P2pdmaMapping p2pdma_mapping(Machine const& machine, PciId provider, PciId client) {
  auto const meeting = common_switch(machine, provider, client);
  if (meeting && !any_port_redirects(machine, provider, *meeting) && !any_port_redirects(machine, client, *meeting))
    return P2pdmaMapping::BusAddress;
  bool const same_host_bridge = machine.at(provider).host_bridge == machine.at(client).host_bridge;
  bool const accepted = accepts(machine, provider, same_host_bridge) && accepts(machine, client, same_host_bridge);
  return accepted ? P2pdmaMapping::ThroughHostBridge : P2pdmaMapping::NotSupported;
}

}  // namespace lanewise
