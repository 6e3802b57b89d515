#pragma once
// What one step needs of a machine: resources with weights, a cap on its rate, latencies, engines, a route. The
// planner's estimate and the simulator's platform are both built from demands.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/inline_vector.hpp"
#include "lanewise/model/resources/parameter.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

enum class ResourceId : std::uint32_t {};
enum class EngineId : std::uint32_t {};

enum class ResourceKind : std::uint8_t {
  PcieLink,       // one direction of a PCIe link
  ChipFabric,     // one direction between a virtual switch and its chip's fabric
  HostBridge,     // peer traffic through a host bridge, one direction
  HostWrites,     // devices of a socket writing host memory
  HostReads,      // devices of a socket reading host memory
  HostTraffic,    // both together
  BridgeMemory,   // host memory traffic through a host bridge, one direction
  Memory,         // DRAM of a NUMA node, reads and writes together
  SocketLink,     // one direction between two sockets
  SocketPeer,     // peer traffic between two sockets: one direction, or both together
  Iommu,          // page-table walker of a socket
  Nvlink,         // one direction of a bundle, or of a GPU's port to NVSwitch
  DeviceMemory,   // a GPU's own memory, reads and writes together
  Wire,           // one direction of a NIC's port
  Uplink,         // one direction of the cables between two switches of a network, or of one such cable
  Drive,          // a drive's reads or writes
  HostDuplex,     // one device reading and writing host memory at once
  DriverStaging,  // copies of one GPU that the driver stages, both directions together
  NvlinkBoth,     // both directions of NVLink together
};
std::string_view to_string(ResourceKind kind);
// The parameter whose uncertainty its capacity has.
Parameter parameter_of(ResourceKind kind);

// Something that flows share. Its capacity counts payload bytes of a bulk transfer in full packets.
struct Resource {
  std::string name;  // "gpu0.pcie.up"
  ResourceKind kind = ResourceKind::PcieLink;
  std::optional<BytesPerSecond> capacity;  // absent: a figure it needs is unknown
  std::string missing;                     // which figure that is, for messages
  // What the capacity is multiplied by at the two ends of Parameter::GenericParts; 1 where no generic part sets it.
  double generic_low = 1;
  double generic_high = 1;

  [[nodiscard]] bool is_inferred() const { return generic_low < 1 || generic_high > 1; }
};

// The factor on the latencies of a part under these assumptions; nullptr: an unknown device.
double assumed_latency_share(Part const* part, Assumptions const& assumed);
// The factor on its capacity under these assumptions.
double assumed_share(Resource const& resource, Assumptions const& assumed);

// Something that steps hold exclusively, one for each slot: a GPU's copy engines.
struct Engine {
  std::string name;
  int slots = 1;
  // Slots at the two ends of Parameter::CopyEngines, where the number is not known; 0: as many as `slots`.
  int fewest = 0;
  int most = 0;

  [[nodiscard]] bool is_assumed() const { return fewest > 0; }
};
// Its slots under these assumptions.
int assumed_slots(Engine const& engine, Assumptions const& assumed);

// How much of a resource one payload byte takes. Stored in twentieths, which the solver represents exactly. The
// rounding to 5 % affects only how different flows share a resource: the rate of a flow alone is capped exactly.
class Weight {
 public:
  static constexpr int kBase = 20;
  static constexpr int kMaxUnits = 2000;  // a weight of 100; a flow alone that takes more is bound by its cap
  constexpr Weight() = default;
  static constexpr Weight of(double ratio) {
    auto const units = ratio * kBase + 0.5;
    return Weight(static_cast<std::uint32_t>(units < 1 ? 1 : units > kMaxUnits ? kMaxUnits : units));
  }
  // That of several flows together, or of a part of one: not limited to kMaxUnits, and 0 where less than half a unit.
  [[nodiscard]] constexpr Weight times(double flows) const {
    return Weight(static_cast<std::uint32_t>(units_ * flows + 0.5));
  }
  // Rounded down: for a flow whose rate alone must not become less.
  static constexpr Weight floor_of(double ratio) { return of(ratio + 1e-9 - 0.5 / kBase); }
  [[nodiscard]] constexpr int units() const { return static_cast<int>(units_); }
  [[nodiscard]] constexpr double ratio() const { return static_cast<double>(units_) / kBase; }
  constexpr void add(Weight other) { units_ += other.units_; }
  friend constexpr auto operator<=>(Weight, Weight) = default;

 private:
  explicit constexpr Weight(std::uint32_t units) : units_(units) {}
  std::uint32_t units_ = kBase;
};

struct Use {
  ResourceId resource{};
  Weight weight;
  friend bool operator==(Use const&, Use const&) = default;
};

// What sets the cap of a flow.
enum class Cap : std::uint8_t {
  None,
  OutstandingReads,  // tags x read request size / round trip (Little's law)
  PeerReads,         // peer reads through the root complex
  PacketPayload,     // small packets forwarded by the root complex
  ChunkOverhead,     // time between chunks of a pipeline
  CpuCopy,           // one core copying
  BarWrite,          // write-combined stores through BAR1
  BarRead,           // loads through BAR1
  RdmaRead,          // RDMA read over one path
  MessageRate,       // messages per second of a NIC
  SequentialLegs,    // two legs, of which one runs at a time
  PageWalks,         // page-table walks of an IOMMU for small pieces
  PageMigration,     // Unified Memory, block by block
  QueuePair,         // one queue pair of a NIC
  SocketStream,      // one core moving a stream through the kernel's sockets
  ThreadBlocks,      // of a communication kernel
  Cable,             // one cable between two switches for each flow
  Measured,          // an override
};
std::string_view to_string(Cap cap);

enum class HopKind : std::uint8_t {
  Function,
  RootComplex,
  SocketLink,
  Memory,
  ChipFabric,
  Nvlink,
  NvSwitch,
  NetworkSwitch
};

// One element of a route. `id` is an index by kind: a PciId, SocketId, NumaId, index of an NVLink bundle, NvSwitchId,
// switch of the fabric.
struct Hop {
  HopKind kind = HopKind::Function;
  std::uint32_t id = 0;
  friend bool operator==(Hop const&, Hop const&) = default;
};

using Route = InlineVector<Hop, 48>;

// Of a way whose data goes on chunk by chunk: a chunk must arrive whole first, and a gap follows each but the last.
struct Pipeline {
  BytesPerSecond rate;       // of the bytes, without the gaps
  BytesPerSecond first_leg;  // by which the first chunk arrives
  Seconds gap{0};
};

struct Demand {
  InlineVector<Use, 48> uses;  // each resource at most once
  BytesPerSecond cap = kUnlimited;
  Cap cap_reason = Cap::None;
  std::optional<ResourceId> cap_of;  // the resource of whose capacity the cap is a part; absent: of none
  Seconds start{0};                  // of engine, kernel, driver: before the first byte moves
  Seconds path{0};                   // from the first byte's departure to its arrival, with fixed waits on the way
  Seconds once{0};                   // before the first such transfer only: peer access, registration, a BAR1 window
  Seconds busy{0};  // time of a core or engine for each transfer: transfers in flight cannot overlap it
  InlineVector<EngineId, 4> engines;
  Route route;
  Bytes chunk{0};                     // of pipelined forms: the way's, or the best one where the way has none
  std::optional<Pipeline> pipeline;   // of forms whose chunk may be chosen, if its rates are known
  std::optional<ResourceId> unknown;  // a used resource of unknown capacity: the step has no cost

  [[nodiscard]] Seconds latency() const { return start + path; }
};

// The cost of a single transfer on an idle machine.
struct Cost {
  Seconds time{0};
  BytesPerSecond rate;                                // after the latency
  std::variant<ResourceId, Cap> binding = Cap::None;  // what bounds the rate
};

}  // namespace lanewise
