#pragma once
// Routes one flow over a machine, piece by piece: PCIe links, root complexes, host memory, NVLink, network. Every piece
// adds to one Demand: the resources it uses, its hops, its caps. Each family of hardware has a file of its own.
#include <cstdint>
#include <optional>

#include "core/machine/fabric_ways.hpp"
#include "core/rules/peer_route.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/demand.hpp"
#include "lanewise/model/resources/parameter.hpp"
#include "lanewise/model/resources/resources.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

struct CpuLink;

// What a step is lowered on: a machine, its resources, and the factors on its parameters. All three must outlive the
// lowering. Model::lowering_target() gives those of a model.
struct LoweringTarget {
  Machine const& machine;
  Resources const& resources;
  Assumptions const& assumed;
};

// What one core of the memory's CPU copies, in bytes per second, from this memory.
BytesPerSecond core_copy(Machine const& machine, NumaId memory);
// A small message copied by a core at both ends, one copy after the other: host memory directly, GPU memory through
// BAR1.
BytesPerSecond eager_copy_rate(Machine const& machine, Assumptions const& assumed, Place const& from, Place const& to);
// Whether an end of the way has no verbs, so that MPI goes through the kernel's sockets.
bool through_sockets(Machine const& machine, Way const& way);

// What moves the bytes over NVLink, in packets of its own size: a copy engine, or SMs that store or load.
enum class NvlinkUse : std::uint8_t { Copy, Store, Load, Multimem };

// Where a core finds what it adds: in a memory of its host, or where a NIC has put it down.
enum class Addend : std::uint8_t { OfHost, Arrived };

// All members that add a piece throw PlanError where the machine has no such piece (no NVLink, no socket link, no
// fabric between the ends), and when a route gets longer than a Demand can hold.
class PathBuilder {
 public:
  PathBuilder(LoweringTarget const& target, Demand& demand)
      : machine_(target.machine), resources_(target.resources), assumed_(target.assumed), demand_(demand) {
    for (auto const& use : demand_.uses) used_ |= bit_of(use.resource);
  }
  // SMs read in cache lines, whatever the device's read request size.
  void read_in_cache_lines() { by_cache_line_ = true; }
  // How the device's DMA to host memory, added next, is divided into pieces.
  void set_access(Access const& access) { access_ = access; }

  // Peer access over PCIe: data from `source` to `target`, pushed by the source or pulled by the target. Adds links,
  // fabrics, root complexes, read requests, caps; returns the time from the first request to the first byte.
  Seconds peer(PciId source, PciId target, bool pulled);
  // A device's DMA into host memory, and out of it (a read by the device). Each returns the time to the first byte.
  Seconds device_to_memory(PciId device, NumaId memory);
  Seconds memory_to_device(NumaId memory, PciId device);
  // A NIC or drive writing a GPU's memory, and reading it: peer access, or through the CPU where that owns the memory.
  Seconds device_to_gpu(PciId device, PciId gpu);
  Seconds gpu_to_device(PciId gpu, PciId device);
  // A GPU to host memory and back: over NVLink to a CPU where it has one, else over PCIe.
  Seconds gpu_to_memory(PciId gpu, NumaId memory);
  Seconds memory_to_gpu(NumaId memory, PciId gpu);
  // NVLink between two GPUs: a bundle, or both GPUs' ports of an NVSwitch crossbar. Returns the time one way.
  Seconds nvlink(PciId from, PciId to, NvlinkUse by);
  // From one NIC's port to another's over the fabric. Returns the time one way.
  Seconds wire(PciId from, PciId to);
  // The same where the switches add up what several nodes send, at a share of the rate of a NIC.
  Seconds wire_to_adding_switches(PciId from, PciId to);
  void wire_out(PciId nic);
  void wire_in(PciId nic);
  FabricWay use_fabric(Fabric::Attachment const& from, Fabric::Attachment const& to, double plane_share);
  // `cores` cores that copy between (or within) memories of one host.
  void cpu_copy(NumaId from, NumaId to, int cores = 1);
  // The kernel's copy between a memory and the buffers of its sockets.
  void socket_copy(NumaId at);
  // A core adds to what a memory holds. Returns the time after the last byte has arrived; 0 where it adds as it reads.
  Seconds add_by_core(NumaId at, Bytes bytes, Addend addend);
  // A GPU's own memory, where its bandwidth is known; `weight` 2 for bytes that are both read and written.
  void use_device_memory(PciId gpu, double weight);

  void use(ResourceId id, double weight = 1) {
    if (weight * Weight::kBase < 0.5) return;  // below the resolution of weights: requests of large reads
    add({id, Weight::of(weight)});
  }
  // Adds what was routed by itself: its uses, hops and cap, but not its times.
  void append(Demand const& leg);
  // Every use so far takes `factor` times as much of its resource.
  void scale_uses(double factor);
  // The same for one resource.
  void scale_use(ResourceId id, double factor);
  // The same for two legs of which one runs at a time: a resource of one leg is used half of the time only, and neither
  // leg disturbs the other.
  void scale_sequential_uses(double factor);
  // Packets with less payload than the resource was sized for take `weight` times as much of it. The cap keeps what the
  // flow reaches alone exact, whatever the rounding of the weight.
  void use_in_small_packets(ResourceId id, double weight, Cap reason = Cap::PacketPayload);
  void hop(HopKind kind, std::uint32_t id) {
    Hop const next{kind, id};
    if (demand_.route.empty() || !(demand_.route.back() == next)) demand_.route.push_back(next);
  }
  // `of`: the resource of whose capacity the cap is a part, if it is.
  void limit(BytesPerSecond cap, Cap reason, std::optional<ResourceId> of = std::nullopt) {
    if (cap >= demand_.cap) return;
    demand_.cap = cap;
    demand_.cap_reason = reason;
    demand_.cap_of = of;
  }
  // The rate that the uses and caps so far allow alone; nullopt when a figure is unknown.
  [[nodiscard]] std::optional<BytesPerSecond> rate() const;

 private:
  static std::uint64_t bit_of(ResourceId id) { return std::uint64_t{1} << (index(id) % 64); }
  void add(Use use) {
    if ((used_ & bit_of(use.resource)) != 0)
      for (auto& known : demand_.uses)
        if (known.resource == use.resource) return known.weight.add(use.weight);
    used_ |= bit_of(use.resource);
    if (!demand_.unknown && !resources_.capacity(use.resource)) demand_.unknown = use.resource;
    demand_.uses.push_back(use);
  }

  // What a byte takes of a NIC's wires where the switches add it up; 1 where they do not.
  [[nodiscard]] double weight_of_adding(PciId nic) const;

  // path_builder.cpp: latencies that several families share
  Seconds endpoint_latency(PciId id) const;
  Seconds switch_latency(PciId pcie_switch) const;
  Seconds switch_latencies(PciId from, std::optional<PciId> last) const;
  Seconds root_complex_latency(SocketId socket) const;
  Seconds socket_latency(SocketId a, SocketId b) const;
  Seconds nvlink_latency(PartId id) const;
  Seconds memory_side_latency(NumaId memory) const;

  // pcie.cpp
  struct PacketFlow {
    PciId from{};
    PciId to{};
    double weight = 1;
    bool data = true;  // false: read requests, which leave no hops and take no fabric
  };
  void add_packets(PacketFlow const& flow, TurnPoint turn, PeerRoute const& route);
  void use_link(PciId id, bool upstream, double weight, std::optional<Bytes> forced_payload);
  void add_upstream(PacketFlow const& flow, std::optional<PciId> last,
                    std::optional<Bytes> forced_payload = std::nullopt);
  void add_downstream(PacketFlow const& flow, std::optional<PciId> first, std::optional<Bytes> forced_payload);
  [[nodiscard]] bool is_below(PciId id, PciId above) const;
  [[nodiscard]] std::optional<Bytes> mean_payload(PciId device) const;
  [[nodiscard]] Bytes read_request_size(PciId device) const;
  Seconds peer_latency(PciId from, PciId to, TurnPoint turn, PeerRoute const& route) const;
  void limit_outstanding_reads(PciId initiator, Seconds round_trip);

  // host_memory.cpp
  void cross_sockets(SocketId from, SocketId to, bool peer, double weight, bool data);
  [[nodiscard]] PciId below_root(PciId device) const;
  void use_host_duplex(PciId device);
  void use_socket_ports(PciId from, PciId to, double weight);
  void use_host_access(PciId device, bool writes);
  void use_iommu(SocketId socket, bool data);
  [[nodiscard]] double iotlb_miss_ratio(SocketId socket) const;
  Seconds iommu_walk_latency(SocketId socket) const;
  Seconds memory_latency(PciId device, NumaId memory) const;

  // nvlink.cpp
  Seconds device_over_c2c(PciId device, CpuLink const& link) const;

  Machine const& machine_;
  Resources const& resources_;
  Assumptions const& assumed_;
  Demand& demand_;
  Access access_;
  bool by_cache_line_ = false;
  // A bit for each resource that the demand uses or used, by its number modulo 64: most that are added are new, and are
  // not looked for.
  std::uint64_t used_ = 0;
};

}  // namespace lanewise
