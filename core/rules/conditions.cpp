#include "core/rules/conditions.hpp"

#include <algorithm>
#include <charconv>

#include "core/machine/nvlink_bundles.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

bool allows(Forwarding reach, PeerRoute const& route) {
  switch (reach) {
    case Forwarding::None: return false;
    case Forwarding::SameHostBridge: return route.same_host_bridge;
    case Forwarding::SameSocket: return route.same_socket;
    case Forwarding::Any: return true;
  }
  return false;
}

void add_network_end(PeerAccesses& accesses, Machine const& machine, std::optional<PciId> nic, Place const& memory,
                     std::optional<PciId> relay, bool read) {
  auto const gpu = relay ? relay : gpu_at(machine, memory);
  if (!nic || !gpu || reaches_through_cpu(machine, *nic, *gpu)) return;
  (accesses.count == 0 ? accesses.first : accesses.second) = PeerAccess{*nic, *gpu, read};
  ++accesses.count;
}

}  // namespace

PeerAccesses peer_accesses(Attempt const& attempt) {
  PeerAccesses accesses;
  auto const& machine = attempt.machine;
  auto const& way = attempt.way;
  switch (way.mechanism) {
    case Mechanism::PcieP2p: {
      auto const from = std::get<PciId>(attempt.from);
      auto const to = std::get<PciId>(attempt.to);
      bool const pull = way.drive == Drive::Pull;
      accesses.first = pull ? PeerAccess{to, from, true} : PeerAccess{from, to, false};
      accesses.count = 1;
      break;
    }
    case Mechanism::Gdr:
    case Mechanism::GdrRelay:
      add_network_end(accesses, machine, way.nic_from, attempt.from, way.relay, true);
      add_network_end(accesses, machine, way.nic_to, attempt.to, way.relay_to, false);
      break;
    case Mechanism::StorageDirect: {
      if (way.nic_from && way.nic_to) {  // the drive is another node's: the NIC reaches the GPU
        add_network_end(accesses, machine, way.nic_from, attempt.from, way.relay, true);
        add_network_end(accesses, machine, way.nic_to, attempt.to, way.relay_to, false);
        break;
      }
      auto const from = std::get<PciId>(attempt.from);
      auto const to = std::get<PciId>(attempt.to);
      if (coherent_with_cpu(machine, machine.at(from).kind == PciKind::Gpu ? from : to)) break;
      bool const reads_drive =
          machine.at(from).kind != PciKind::Gpu;  // in both directions the drive or device is the initiator
      accesses.first = reads_drive ? PeerAccess{from, to, false} : PeerAccess{to, from, true};
      accesses.count = 1;
      break;
    }
    default: break;
  }
  return accesses;
}

bool root_complex_forwards(Machine const& machine, PeerAccess const& access, PeerRoute const& route) {
  auto const* cpu = machine.part_of(machine.socket_of(access.target));
  if (cpu == nullptr) return false;
  return allows(access.read ? cpu->cpu.read_forwarding : cpu->cpu.forwarding, route);
}

bool unapproved_guest(Machine const& machine, PciId a, PciId b) {
  auto const& host = machine.at(machine.host_of(a));
  auto const& v = host.settings.virtualization;
  if (!v.passthrough || v.approval) return false;
  auto const holds = [&](std::vector<std::string> const& clique,
                         PciId id) {  // a node's own file does not name the node
    auto const& name = machine.at(id).name;
    return std::any_of(clique.begin(), clique.end(),
                       [&](std::string const& member) { return member == name || host.name + "/" + member == name; });
  };
  return std::none_of(v.cliques.begin(), v.cliques.end(),
                      [&](auto const& clique) { return holds(clique, a) && holds(clique, b); });
}

bool has_nvlink(Machine const& machine, PciId a, PciId b) { return nvlink_count(machine, a, b) > 0; }

bool has_nvlink(Machine const& machine, PciId gpu, NumaId memory) {
  return machine.host_of(gpu) == machine.host_of(Place(memory)) && cpu_link(machine, gpu).has_value();
}

std::optional<CpuLink> cpu_link(Machine const& machine, PciId gpu) {
  for (auto const& bundle : bundles_of(machine, machine.host_of(gpu))) {
    auto const* a = std::get_if<SocketId>(&bundle.a);
    auto const* b = std::get_if<SocketId>(&bundle.b);
    if (b != nullptr && bundle.a == NvlinkEnd(gpu)) return CpuLink{number_of(machine, bundle), *b, true};
    if (a != nullptr && bundle.b == NvlinkEnd(gpu)) return CpuLink{number_of(machine, bundle), *a, false};
  }
  return std::nullopt;
}

bool coherent_with_cpu(Machine const& machine, PciId gpu) {
  auto const link = cpu_link(machine, gpu);
  return link && machine.at(machine.nvlinks[link->bundle].part).link.family == LinkFamily::C2c;
}

bool reaches_through_cpu(Machine const& machine, PciId device, PciId gpu) {
  return coherent_with_cpu(machine, gpu) && !common_switch(machine, device, gpu);
}

bool on_nvswitch(Machine const& machine, PciId gpu) {
  return std::any_of(machine.nvswitches.begin(), machine.nvswitches.end(),
                     [&](NvSwitch const& domain) { return links_of(machine, domain, gpu) > 0; });
}

std::optional<double> compute_capability(Part const& gpu) {
  auto const& text = gpu.gpu.compute_capability;
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<Bytes> bar1_window(Part const& gpu) {
  using namespace literals;
  if (!gpu.gpu.bar1) return std::nullopt;
  // A small BAR1 (256 MiB) has 32 MiB reserved (GPUDirect RDMA documentation, "Supported systems").
  return *gpu.gpu.bar1 <= 256_MiB ? std::max(*gpu.gpu.bar1 - 32_MiB, 0_B) : *gpu.gpu.bar1;
}

}  // namespace lanewise
