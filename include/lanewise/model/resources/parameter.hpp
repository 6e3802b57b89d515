#pragma once
// The uncertain parameters of the model, each with the range that holds 90 % of machines. The interval of a predicted
// figure comes from moving one parameter after another to both ends of its range (see interval.hpp).
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lanewise {

enum class Parameter : std::uint8_t {
  LinkUtilisation,   // the share of their packet rate that PCIe links reach
  SwitchFabric,      // between the virtual switches of a chip
  RootComplexPeer,   // peer traffic through host bridges, and peer reads
  HostWrites,        // host memory written by all devices of a socket
  HostReads,         // and read by them
  HostTraffic,       // both together
  BridgeMemory,      // host memory traffic through a host bridge
  HostMemory,        // DRAM under mixed streams
  HostDuplex,        // host memory read and written by one device at once
  SocketPeer,        // between sockets
  IommuWalks,        // page-table walks per second
  NvlinkEfficiency,  // payload share of NVLink
  NvlinkDuplex,      // both directions of NVLink at once
  DeviceMemory,      // a GPU's own memory
  NetworkRate,       // ports and cables
  DriveRate,         // NVMe drives
  DriveLatency,
  EngineStart,    // copy engines and kernels starting
  HostWork,       // the CPU submitting, waiting, ringing doorbells
  DriverStaging,  // the driver's staged copies, both directions at once
  PathLatency,    // PCIe hops: endpoints, switches, root complexes, sockets, walks
  NvlinkLatency,
  NetworkLatency,
  CoreCopy,          // one core copying
  BarAccess,         // the CPU's loads and stores through BAR1
  PageMigration,     // Unified Memory
  LibrarySteps,      // launches and protocol steps of a library's kernels
  LibraryMessages,   // the same where some of the steps are between nodes
  TokenWarps,        // warps of a kernel that each carry one token at a time
  MessagePassing,    // MPI's work for a message, and the kernel's for its sockets
  GenericParts,      // rates of parts that stand for several products
  GenericLatencies,  // their latencies
  CopyEngines,       // how many a GPU has whose part does not say
};
inline constexpr std::size_t kParameterCount = 33;

// `low` and `high` are factors on the nominal figure. `source`: the measurements that give the range.
struct ParameterRange {
  Parameter parameter;
  std::string_view name;
  double low;
  double high;
  std::string_view source;
};
std::span<ParameterRange const, kParameterCount> parameter_ranges();

// Run-to-run spread of one measurement around the median of many, as a share of it.
// Source: NVIDIA/cuda-samples issue 449: ten runs of p2pBandwidthLatencyTest spread over 5 to 8 % of their mean.
inline constexpr double kRunToRunSpread = 0.04;

// A factor on every parameter, and how a network hashes flows. The default is nominal: every factor is 1, and traffic
// is spread over the cables of a network as it is in the mean.
class Assumptions {
 public:
  Assumptions() = default;
  Assumptions(Parameter parameter, double factor) : nominal_(false) {
    factors_.at(static_cast<std::size_t>(parameter)) = factor;
  }
  // The same with another factor on one parameter.
  [[nodiscard]] Assumptions with(Parameter parameter, double factor) const {
    auto other = *this;
    other.nominal_ = false;
    other.factors_.at(static_cast<std::size_t>(parameter)) = factor;
    return other;
  }
  // Whether every factor is 1.
  [[nodiscard]] bool is_nominal() const { return nominal_; }

  // Each flow takes the cables that a hash with this seed gives, where the fabric's routing is ecmp.
  [[nodiscard]] Assumptions hashed_with(std::uint32_t seed) const {
    auto other = *this;
    other.hash_seed_ = seed;
    return other;
  }
  [[nodiscard]] std::optional<std::uint32_t> hash_seed() const { return hash_seed_; }
  [[nodiscard]] double operator()(Parameter parameter) const { return factors_[static_cast<std::size_t>(parameter)]; }

 private:
  static constexpr std::array<double, kParameterCount> ones() {
    std::array<double, kParameterCount> all{};
    all.fill(1.0);
    return all;
  }
  std::array<double, kParameterCount> factors_ = ones();
  bool nominal_ = true;
  std::optional<std::uint32_t> hash_seed_;
};

}  // namespace lanewise
