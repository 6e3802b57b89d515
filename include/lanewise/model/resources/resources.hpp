#pragma once
// The shared resources and engines of a machine, made once from its description.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/demand.hpp"
#include "lanewise/model/resources/parameter.hpp"

namespace lanewise {

class FabricWays;  // core/machine/fabric_ways.hpp

// One resource for each direction. Of a PCI function: up is towards the root. Of a link a-b: up is from a to b.
struct Duplex {
  ResourceId up{};
  ResourceId down{};
};

class Resources {
 public:
  explicit Resources(Machine const& machine);

  [[nodiscard]] Resource const& at(ResourceId id) const { return resources_[index(id)]; }
  [[nodiscard]] Engine const& at(EngineId id) const { return engines_[index(id)]; }
  // at(id).capacity, from a dense table: most of the time of choosing ways goes into these look-ups.
  [[nodiscard]] std::optional<BytesPerSecond> capacity(ResourceId id) const { return capacities_[index(id)]; }
  // The same under assumptions.
  [[nodiscard]] std::optional<BytesPerSecond> capacity(ResourceId id, Assumptions const& assumed) const {
    auto const nominal = capacities_[index(id)];
    return nominal && !assumed.is_nominal() ? std::optional(*nominal * assumed_share(resources_[index(id)], assumed))
                                            : nominal;
  }
  void widen(ResourceId id, double times);
  void widen(EngineId id, int slots);
  [[nodiscard]] std::size_t count() const { return resources_.size(); }
  [[nodiscard]] std::size_t engine_count() const { return engines_.size(); }

  // The link above a function and the packet payload that its capacity assumes. `assumed`: the machine file does not
  // give the link, so it comes from the datasheets of its two ends.
  struct Link {
    Duplex direction;
    std::optional<PcieLink> link;
    bool assumed = false;
    Bytes payload{0};
  };
  [[nodiscard]] Link const& link_above(PciId id) const { return links_[index(id)]; }
  [[nodiscard]] std::optional<Duplex> fabric_of(PciId virtual_switch) const { return fabrics_[index(virtual_switch)]; }
  [[nodiscard]] std::optional<Duplex> host_bridge(HostBridgeId id) const { return bridges_[index(id)]; }
  // What the devices of a socket share on their way to host memory, where its part says so.
  struct HostAccess {
    std::optional<ResourceId> writes;
    std::optional<ResourceId> reads;
    std::optional<ResourceId> traffic;  // writes and reads
  };
  [[nodiscard]] HostAccess const& host_access(SocketId id) const { return host_accesses_[index(id)]; }
  // The same for the devices below one host bridge; up: writes.
  [[nodiscard]] std::optional<Duplex> bridge_memory(HostBridgeId id) const { return bridge_memories_[index(id)]; }
  // Reads and writes of host memory together through the link below a root port, where the root complex cannot do both
  // at full rate.
  [[nodiscard]] std::optional<ResourceId> host_duplex(PciId below_root) const {
    return host_duplexes_[index(below_root)];
  }
  // Peer traffic between another socket and the link below a root port; direction.up: out of this socket.
  struct SocketPort {
    Duplex direction;
    std::optional<ResourceId> both;
  };
  [[nodiscard]] std::optional<SocketPort> const& socket_port(PciId below_root) const {
    return socket_ports_[index(below_root)];
  }
  // All copies that the driver stages for a GPU, in and out together.
  [[nodiscard]] std::optional<ResourceId> driver_staging(PciId gpu) const { return driver_stagings_[index(gpu)]; }
  [[nodiscard]] ResourceId memory(NumaId id) const { return memories_[index(id)]; }
  [[nodiscard]] std::optional<ResourceId> iommu(SocketId id) const { return iommus_[index(id)]; }
  [[nodiscard]] ResourceId device_memory(PciId gpu) const { return device_memories_[index(gpu)]; }
  [[nodiscard]] EngineId copy_engines(PciId gpu) const { return copy_engines_[index(gpu)]; }
  // The engines of its copies to other GPUs over NVLink: the same ones, unless the part has separate ones.
  [[nodiscard]] EngineId peer_copy_engines(PciId gpu) const { return peer_copy_engines_[index(gpu)]; }
  // Held by kernels of the GPU, one at a time.
  [[nodiscard]] EngineId multiprocessors(PciId gpu) const { return multiprocessors_[index(gpu)]; }
  [[nodiscard]] Duplex wire(PciId nic) const { return wires_[index(nic)]; }
  // One port of a NIC that has several, by the number of its attachment; nullopt where it has one.
  [[nodiscard]] std::optional<Duplex> port(std::size_t attachment) const { return nic_ports_[attachment]; }
  [[nodiscard]] Duplex drive(PciId nvme) const { return wires_[index(nvme)]; }  // up: reads, down: writes
  // All cables of a trunk of the fabric together; up: from its lower to its upper switch.
  [[nodiscard]] Duplex trunk(std::uint32_t trunk) const { return trunks_[trunk]; }
  // One of its cables. Only where routing is by the cable: static or ecmp.
  [[nodiscard]] Duplex cable(std::uint32_t trunk, std::size_t cable) const { return cables_[trunk][cable]; }
  [[nodiscard]] FabricWays const& fabric_ways() const { return *fabric_ways_; }

  // Between two sockets of one host: the link, and the share of it that peer traffic gets.
  struct SocketPair {
    SocketId a{}, b{};
    Duplex link;
    Duplex peer;
    std::optional<ResourceId> peer_both;
    Seconds latency{0};
    std::optional<PartId> part = {};  // of the link
  };
  [[nodiscard]] SocketPair const* socket_pair(SocketId a, SocketId b) const;

  // The two directions of an NVLink bundle or port, and both together where the directions slow each other.
  struct NvlinkPath {
    Duplex direction;
    std::optional<ResourceId> both;
    PartId part{};
  };
  [[nodiscard]] NvlinkPath const& nvlink(std::size_t bundle) const { return bundles_[bundle]; }
  // A GPU's port to an NVSwitch domain: up is out of the GPU.
  [[nodiscard]] NvlinkPath const& nvswitch_port(std::size_t domain, std::size_t port) const {
    return ports_[domain][port];
  }

 private:
  ResourceId add(std::string name, ResourceKind kind, std::optional<BytesPerSecond> capacity, std::string missing = {});
  Duplex add_duplex(std::string const& stem, std::string const& up, std::string const& down, ResourceKind kind,
                    std::optional<BytesPerSecond> capacity, std::string const& missing = {});
  // Notes that generic parts set the capacity. `limit`: a part that can only lower it.
  void mark_generic(ResourceId id, Part const* part, Part const* limit = nullptr);
  void mark_generic(Duplex const& both, Part const* part, Part const* limit = nullptr);
  // Widens the range of a capacity that a part's figure sets, where the part's source says that the figure is
  // estimated.
  void mark_estimated(ResourceId id, Part const* part, std::string_view figure);
  void mark_estimated(Duplex const& both, Part const* part, std::string_view figure);
  // Both: a part's figure sets the capacity. `at`: a resource or both directions.
  void mark_set_by(auto const& at, Part const* part, std::string_view figure) {
    mark_generic(at, part);
    mark_estimated(at, part, figure);
  }
  void widen_range(ResourceId id, double low, double high);
  void add_functions(Machine const& machine);
  void share_ports(Machine const& machine);
  void add_engines(Machine const& machine, PciId gpu, int linked);
  static std::optional<BytesPerSecond> one_way(Machine const& machine, PciId id, Link const& link, bool upward);
  void add_link(Machine const& machine, PciId id);
  void add_host_duplex(Machine const& machine, PciId below_root);
  void add_socket_port(Machine const& machine, PciId below_root);
  void add_driver_staging(Machine const& machine, PciId gpu);
  void add_sockets(Machine const& machine);
  void add_host_access(Machine const& machine, SocketId socket);
  void add_host_bridges(Machine const& machine);
  void add_memories(Machine const& machine);
  void add_socket_pairs(Machine const& machine);
  void add_unlinked_sockets(Machine const& machine);
  void add_nvlinks(Machine const& machine);
  void add_network(Machine const& machine);
  void add_nic_ports(Machine const& machine);

  std::vector<Resource> resources_;
  std::vector<std::optional<BytesPerSecond>> capacities_;
  std::vector<Engine> engines_;
  std::vector<Link> links_;
  std::vector<std::optional<Duplex>> fabrics_;
  std::vector<std::optional<Duplex>> bridges_;
  std::vector<std::optional<Duplex>> bridge_memories_;
  std::vector<HostAccess> host_accesses_;
  std::vector<std::optional<ResourceId>> host_duplexes_;
  std::vector<std::optional<SocketPort>> socket_ports_;
  std::vector<std::optional<ResourceId>> driver_stagings_;
  std::vector<ResourceId> memories_;
  std::vector<std::optional<ResourceId>> iommus_;
  std::vector<ResourceId> device_memories_;
  std::vector<EngineId> copy_engines_;
  std::vector<EngineId> peer_copy_engines_;
  std::vector<EngineId> multiprocessors_;
  std::vector<Duplex> wires_;
  std::vector<std::optional<Duplex>> nic_ports_;  // by attachment
  std::vector<Duplex> trunks_;
  std::vector<std::vector<Duplex>> cables_;
  std::shared_ptr<FabricWays const> fabric_ways_;  // of the machine's fabric; nullptr where it has none
  std::vector<SocketPair> pairs_;
  std::vector<NvlinkPath> bundles_;
  std::vector<std::vector<NvlinkPath>> ports_;
};

}  // namespace lanewise
