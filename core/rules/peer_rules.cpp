// Rules of peer access over PCIe, and of the CPU's access through BAR1.
#include "core/rules/conditions.hpp"
#include "core/rules/predicates.hpp"

namespace lanewise::rules {
namespace {

bool refused_by_root_complex(Attempt const& a, bool read) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    return access.read == read && route.through_root_complex(access.read) &&
           !root_complex_forwards(a.machine, access, route);
  });
}

bool crosses_sockets(Attempt const& a) {
  return any_access(a, [](PeerAccess const& access, PeerRoute const& route) {
    return route.through_root_complex(access.read) && !route.same_socket;
  });
}

}  // namespace

bool nvlink_takes_peer(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  return has_nvlink(a.machine, from, to) && !fabric_not_ready(a);
}

bool nvswitch_without_fallback(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  return on_nvswitch(a.machine, from) && on_nvswitch(a.machine, to);
}

bool product_without_pcie_peer(Attempt const& a) {
  return !software_of(a).geforce_peer && any_gpu_part(a, [](Part const& part) { return !part.gpu.pcie_peer; });
}

bool chips_differ(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  auto const* one = a.machine.part_of(from);
  auto const* other = a.machine.part_of(to);
  return one != nullptr && other != nullptr && one->gpu.chip != other->gpu.chip;
}

bool guest_not_approved(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    return !route.meeting && unapproved_guest(a.machine, access.initiator, access.target);
  });
}

bool too_many_peers(Attempt const& a) {
  auto const full = [&](PciId gpu, int peers) {
    auto const* part = a.machine.part_of(gpu);
    return part != nullptr && part->gpu.max_peers && peers >= *part->gpu.max_peers;
  };
  auto const [from, to] = two_gpus(a);
  return full(from, a.peers_of_source) || full(to, a.peers_of_target);
}

bool acs_blocks(Attempt const& a) {
  return any_access(a, [](PeerAccess const&, PeerRoute const& route) { return route.blocked; });
}

bool acs_redirects(Attempt const& a) {
  return any_access(a, [](PeerAccess const& access, PeerRoute const& route) {
    return route.redirected(access.read) && !route.acs_unknown(access.read);
  });
}

bool acs_unknown(Attempt const& a) {
  return any_access(a, [](PeerAccess const& access, PeerRoute const& route) { return route.acs_unknown(access.read); });
}

bool raw_address_under_iommu(Attempt const& a) { return raw_addresses_fail(settings_of(a)); }

bool cpu_unknown(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    return route.through_root_complex(access.read) && a.machine.part_of(a.machine.socket_of(access.target)) == nullptr;
  });
}

bool sockets_refused(Attempt const& a) {
  return crosses_sockets(a) && (refused_by_root_complex(a, false) || refused_by_root_complex(a, true));
}

bool writes_not_forwarded(Attempt const& a) { return refused_by_root_complex(a, false); }

bool reads_not_forwarded(Attempt const& a) { return refused_by_root_complex(a, true); }

bool larger_than_bar1(Attempt const& a) {
  return any_gpu_part(a, [&](Part const& part) {
    auto const window = bar1_window(part);
    return window && *window > Bytes(0) && a.bytes > *window;
  });
}

bool bar_not_mappable(Attempt const& a) { return !software_of(a).gdrcopy; }

bool no_bar1(Attempt const& a) {
  return any_gpu_part(a, [](Part const& part) {
    auto const window = bar1_window(part);
    return !window || *window == Bytes(0);
  });
}

}  // namespace lanewise::rules
