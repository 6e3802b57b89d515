// Resources of sockets: host memory, what devices share on their way to it, the IOMMU, and the links between sockets.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/resources/figures.hpp"
#include "core/model/resources/overheads.hpp"
#include "lanewise/model/resources/resources.hpp"

namespace lanewise {

void Resources::add_host_duplex(Machine const& machine, PciId below_root) {
  auto const& link = links_[index(below_root)];
  auto const* cpu = machine.part_of(machine.socket_of(below_root));
  if (!link.link) return;
  auto const share = figures::host_duplex(cpu, link.link->generation);
  if (share >= 1) return;
  auto const both = add(machine.at(below_root).name + ".host.both", ResourceKind::HostDuplex,
                        (*capacity(link.direction.up) + *capacity(link.direction.down)) * share);
  if (link.assumed) mark_generic(both, machine.part_of(below_root), cpu);
  host_duplexes_[index(below_root)] = both;
}

void Resources::add_socket_port(Machine const& machine, PciId below_root) {
  auto const* cpu = machine.part_of(machine.socket_of(below_root));
  if (cpu == nullptr || !cpu->cpu.socket_peer_port_bandwidth) return;
  auto const& name = machine.at(below_root).name;
  SocketPort port{
      add_duplex(name, ".remote.out", ".remote.in", ResourceKind::SocketPeer, cpu->cpu.socket_peer_port_bandwidth), {}};
  mark_estimated(port.direction, cpu, "socket_peer_port_bandwidth");
  if (cpu->cpu.socket_peer_port_bandwidth_both) {
    port.both = add(name + ".remote.both", ResourceKind::SocketPeer, cpu->cpu.socket_peer_port_bandwidth_both);
    mark_estimated(*port.both, cpu, "socket_peer_port_bandwidth_both");
  }
  socket_ports_[index(below_root)] = port;
}

void Resources::add_sockets(Machine const& machine) {
  host_accesses_.resize(machine.sockets.size());
  iommus_.resize(machine.sockets.size());
  for (std::size_t i = 0; i < machine.sockets.size(); ++i) {
    auto const& socket = machine.sockets[i];
    auto const* part = machine.part_of(SocketId(i));
    if (part == nullptr) continue;
    add_host_access(machine, SocketId(i));
    auto const& settings = machine.at(socket.host).settings;
    if (translates(settings.iommu))
      iommus_[i] = add(socket.name + ".iommu", ResourceKind::Iommu,
                       BytesPerSecond(part->cpu.iommu_walks.value_or(overheads::kIommuWalks).value() *
                                      static_cast<double>(settings.iommu_page.value())));
  }
  add_host_bridges(machine);
  add_memories(machine);
}

void Resources::add_host_access(Machine const& machine, SocketId socket) {
  auto const* part = machine.part_of(socket);
  auto const& cpu = part->cpu;
  auto const& name = machine.at(socket).name;
  auto& access = host_accesses_[index(socket)];
  auto const limit = [&](std::string const& what, ResourceKind kind, std::optional<BytesPerSecond> capacity,
                         std::string_view figure) -> std::optional<ResourceId> {
    if (!capacity) return std::nullopt;
    auto const id = add(name + what, kind, capacity);
    mark_estimated(id, part, figure);
    return id;
  };
  access.writes = limit(".host.writes", ResourceKind::HostWrites, cpu.host_write_bandwidth, "host_write_bandwidth");
  access.reads = limit(".host.reads", ResourceKind::HostReads, cpu.host_read_bandwidth, "host_read_bandwidth");
  access.traffic =
      limit(".host.traffic", ResourceKind::HostTraffic, cpu.host_traffic_bandwidth, "host_traffic_bandwidth");
}

void Resources::add_host_bridges(Machine const& machine) {
  for (auto const& bridge : machine.host_bridges) {
    auto const* part = machine.part_of(bridge.socket);
    auto const duplex_of = [&](std::optional<BytesPerSecond> CpuFigures::*member, std::string const& what,
                               ResourceKind kind, std::string_view figure) -> std::optional<Duplex> {
      auto const capacity = part != nullptr ? part->cpu.*member : std::nullopt;
      if (!capacity) return std::nullopt;
      auto const both = add_duplex(bridge.name, what + ".in", what + ".out", kind, capacity);
      mark_estimated(both, part, figure);
      return both;
    };
    bridges_.push_back(duplex_of(&CpuFigures::host_bridge_peer_bandwidth, ".peer", ResourceKind::HostBridge,
                                 "host_bridge_peer_bandwidth"));
    bridge_memories_.push_back(duplex_of(&CpuFigures::host_bridge_memory_bandwidth, ".memory",
                                         ResourceKind::BridgeMemory, "host_bridge_memory_bandwidth"));
  }
}

void Resources::add_memories(Machine const& machine) {
  for (auto const& numa : machine.numa_nodes) {
    auto const* part = machine.part_of(numa.socket);
    auto const nodes = std::count_if(machine.numa_nodes.begin(), machine.numa_nodes.end(),
                                     [&](auto const& other) { return other.socket == numa.socket; });
    auto const bandwidth = part != nullptr ? part->cpu.memory_bandwidth : std::nullopt;
    memories_.push_back(
        add(numa.name + ".memory", ResourceKind::Memory,
            bandwidth ? std::optional(*bandwidth * (figures::memory_efficiency(part) / static_cast<double>(nodes)))
                      : std::nullopt,
            fmt::format("the memory bandwidth of '{}'", machine.at(numa.socket).name)));
    mark_set_by(memories_.back(), part, "memory_bandwidth");
  }
}

void Resources::add_socket_pairs(Machine const& machine) {
  for (auto const& link : machine.socket_links) {
    auto const& part = machine.at(link.part);
    auto const stem = fmt::format("{}-{}", machine.at(link.a).name,
                                  machine.at(link.b).name.substr(machine.at(link.b).name.find('/') + 1));
    auto const raw = part.link.rate ? std::optional(*part.link.rate * (static_cast<double>(link.count) *
                                                                       part.link.copy_efficiency.value_or(1.0)))
                                    : std::nullopt;
    SocketPair pair{link.a, link.b, {}, {}, {}, figures::latency(part.link), link.part};
    pair.link =
        add_duplex(stem, ".forth", ".back", ResourceKind::SocketLink, raw, fmt::format("the rate of '{}'", part.name));
    auto const* cpu = machine.part_of(link.a);
    auto const share = cpu != nullptr && cpu->cpu.socket_peer_port_bandwidth ? overheads::kSocketPeerShare : 1;
    auto const of_raw = raw ? std::optional(*raw * share) : std::nullopt;
    auto const peer = cpu != nullptr && cpu->cpu.socket_peer_bandwidth ? cpu->cpu.socket_peer_bandwidth : of_raw;
    pair.peer = add_duplex(stem, ".peer.forth", ".peer.back", ResourceKind::SocketPeer, peer,
                           fmt::format("the peer bandwidth of '{}'", part.name));
    if (cpu != nullptr && cpu->cpu.socket_peer_bandwidth_both) {
      pair.peer_both = add(stem + ".peer.both", ResourceKind::SocketPeer, cpu->cpu.socket_peer_bandwidth_both);
      mark_estimated(*pair.peer_both, cpu, "socket_peer_bandwidth_both");
    }
    mark_set_by(pair.link, &part, "rate");
    if (cpu != nullptr && cpu->cpu.socket_peer_bandwidth)
      mark_set_by(pair.peer, cpu, "socket_peer_bandwidth");
    else
      mark_set_by(pair.peer, &part, "rate");
    pairs_.push_back(pair);
  }
}

// Sockets of one host without a link: there is one on every board, so what crosses it has no known rate.
void Resources::add_unlinked_sockets(Machine const& machine) {
  for (std::size_t a = 0; a < machine.sockets.size(); ++a)
    for (std::size_t b = a + 1; b < machine.sockets.size(); ++b) {
      if (machine.sockets[a].host != machine.sockets[b].host) break;  // the sockets of a host are neighbours
      if (socket_pair(SocketId(a), SocketId(b)) != nullptr) continue;
      auto const& other = machine.sockets[b].name;
      auto const stem = fmt::format("{}-{}", machine.sockets[a].name, other.substr(other.find('/') + 1));
      auto const missing =
          fmt::format("the link between '{}' and '{}' ('socket_links' gives it)", machine.sockets[a].name, other);
      SocketPair pair{SocketId(a), SocketId(b), {}, {}, {}, overheads::kSocketHop, std::nullopt};
      pair.link = add_duplex(stem, ".forth", ".back", ResourceKind::SocketLink, std::nullopt, missing);
      pair.peer = add_duplex(stem, ".peer.forth", ".peer.back", ResourceKind::SocketPeer, std::nullopt, missing);
      pairs_.push_back(pair);
    }
}

Resources::SocketPair const* Resources::socket_pair(SocketId a, SocketId b) const {
  for (auto const& pair : pairs_)
    if ((pair.a == a && pair.b == b) || (pair.a == b && pair.b == a)) return &pair;
  return nullptr;
}

}  // namespace lanewise
