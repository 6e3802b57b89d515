#pragma once
// Lays one flow over a machine piece by piece: PCIe links, root complexes, NVLink, memory, network.
#include <optional>

#include "core/machine/machine.hpp"
#include "core/model/demand.hpp"
#include "core/model/resources.hpp"
#include "core/rules/mechanism.hpp"
#include "core/rules/peer_route.hpp"

namespace lanewise {

class Model;
struct CpuLink;

// What one core of the memory's CPU copies from it.
BytesPerSecond core_copy(Machine const& machine, NumaId memory);

// Who moves the bytes over NVLink, in packets of its own: a copy engine, or SMs that store or load.
enum class NvlinkUse : std::uint8_t { Copy, Store, Load };

class PathBuilder {
 public:
  PathBuilder(Model const& model, Demand& demand);
  // SMs read in cache lines, whatever the device's read request size.
  void read_in_cache_lines() { by_cache_line_ = true; }
  // How the device's DMA to host memory that is laid next is cut up.
  void access_in(Access const& access) { access_ = access; }

  // Peer access over PCIe: data from `source` to `target`, pushed by the source or pulled by the target. Adds links,
  // fabrics, root complexes, read requests, caps; returns the time from the first request to the first byte.
  Seconds peer(PciId source, PciId target, bool pulled);
  // A device's DMA into host memory, and out of it (a read by the device).
  Seconds into_memory(PciId device, NumaId memory);
  Seconds out_of_memory(NumaId memory, PciId device);
  // A NIC or drive writing a GPU's memory, and reading it: peer access, or through the CPU where that owns the memory.
  Seconds device_into_gpu(PciId device, PciId gpu);
  Seconds gpu_into_device(PciId gpu, PciId device);
  // A GPU to host memory and back over whatever it has: NVLink to a CPU, else PCIe.
  Seconds gpu_into_memory(PciId gpu, NumaId memory);
  Seconds memory_into_gpu(NumaId memory, PciId gpu);
  // NVLink between two GPUs.
  Seconds nvlink(PciId from, PciId to, NvlinkUse by);
  // From one NIC's port to another's over the fabric.
  Seconds wire(PciId from, PciId to);
  void wire_out(PciId nic);
  void wire_in(PciId nic);
  // So many cores copying between (or within) memories.
  void cpu_copy(NumaId from, NumaId to, int cores = 1);
  void device_memory(PciId gpu, double weight);

  void use(ResourceId id, double weight = 1);
  // Adds what was laid by itself: its uses, route and cap, but not its times.
  void append(Demand const& leg);
  // Everything laid so far takes `factor` times as much of its resources.
  void scale(double factor);
  // The same where two legs take turns: each has what it uses for half of the time only, and neither disturbs the
  // other.
  void scale_in_turn(double factor);
  // Packets with less payload than the resource was sized for: they take `weight` times as much of it. What the flow
  // reaches alone is exact, whatever the rounding of the weight.
  void use_in_small_packets(ResourceId id, double weight, Cap reason = Cap::PacketPayload);
  void hop(HopKind kind, std::uint32_t id);
  void limit(BytesPerSecond cap, Cap reason);
  // The rate that the uses and caps so far allow alone; nullopt when a figure is unknown.
  [[nodiscard]] std::optional<BytesPerSecond> rate() const;

 private:
  void add(Use use);

  struct Packets {
    PciId from{};
    PciId to{};
    double weight = 1;
    bool data = true;  // false: read requests, which leave no hops and take no fabric
  };
  void packets(Packets const& flow, TurnPoint turn, PeerRoute const& route);
  void link(PciId id, bool upward, double weight, std::optional<Bytes> forced_payload);
  void climb(Packets const& flow, std::optional<PciId> stop, std::optional<Bytes> forced_payload = std::nullopt);
  void descend(Packets const& flow, std::optional<PciId> stop, std::optional<Bytes> forced_payload);
  void cross_sockets(SocketId from, SocketId to, bool peer, double weight, bool data);
  void use_host_duplex(PciId device);
  void through_io_die(SocketId socket, bool inward, double weight);
  void walk_iommu(SocketId socket, bool data);
  [[nodiscard]] std::optional<Bytes> cut_payload(PciId device) const;
  [[nodiscard]] double misses(SocketId socket) const;
  [[nodiscard]] Bytes request_of(PciId device) const;
  [[nodiscard]] bool hangs_below(PciId id, PciId above) const;
  Seconds endpoint(PciId id) const;
  Seconds pass(PciId pcie_switch) const;
  Seconds switches(PciId from, std::optional<PciId> stop) const;
  Seconds root_complex(SocketId socket) const;
  Seconds socket_hop(SocketId a, SocketId b) const;
  Seconds peer_latency(PciId from, PciId to, TurnPoint turn, PeerRoute const& route) const;
  Seconds device_over_c2c(PciId device, CpuLink const& link) const;
  Seconds memory_latency(PciId device, NumaId memory) const;
  Seconds walk_latency(SocketId socket) const;
  void limit_reads(PciId initiator, Seconds round_trip);

  Machine const& machine_;
  Resources const& resources_;
  Assumptions const& assumed_;
  Demand& demand_;
  Access access_;
  bool by_cache_line_ = false;
};

}  // namespace lanewise
