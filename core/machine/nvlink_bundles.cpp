#include "core/machine/nvlink_bundles.hpp"

#include <algorithm>
#include <variant>

namespace lanewise {

std::span<NvlinkBundle const> bundles_of(Machine const& machine, HostId host) {
  std::span<NvlinkBundle const> const all(machine.nvlinks);
  if (machine.hosts.size() == 1) return all;
  auto const host_of = [&](NvlinkBundle const& bundle) {
    auto const* gpu = std::get_if<PciId>(&bundle.a);
    return gpu != nullptr ? machine.host_of(*gpu) : machine.at(std::get<SocketId>(bundle.a)).host;
  };
  auto const first =
      std::partition_point(all.begin(), all.end(), [&](NvlinkBundle const& bundle) { return host_of(bundle) < host; });
  auto const last =
      std::partition_point(first, all.end(), [&](NvlinkBundle const& bundle) { return host_of(bundle) == host; });
  return {first, last};
}

bool are_joined_by(Machine const& machine, PciId a, PciId b, LinkFamily family) {
  auto const bundles = bundles_of(machine, machine.host_of(a));
  return std::any_of(bundles.begin(), bundles.end(), [&](NvlinkBundle const& bundle) {
    return joins(bundle, a, b) && machine.at(bundle.part).link.family == family;
  });
}

}  // namespace lanewise
