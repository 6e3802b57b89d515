#pragma once
// What the model's figures are uncertain about, each with the range that holds nine machines out of ten. A predicted
// figure's interval comes from moving one parameter after another to the ends of its range.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace lanewise {

enum class Parameter : std::uint8_t {
  LinkUtilisation,   // what PCIe links carry of their raw rate
  SwitchFabric,      // between the virtual switches of a chip
  RootComplexPeer,   // peer traffic through host bridges, and peer reads
  IoDie,             // all devices of a socket
  HostMemory,        // DRAM under mixed streams
  HostDuplex,        // host memory read and written by one device at once
  SocketPeer,        // between sockets
  IommuWalks,        // page-table walks per second
  NvlinkEfficiency,  // payload share of NVLink
  NvlinkDuplex,      // both directions of NVLink at once
  DeviceMemory,      // a GPU's own memory
  NetworkRate,       // ports and cables
  DriveRate,         // NVMe drives
  EngineStart,       // copy engines and kernels starting
  HostWork,          // the CPU submitting, waiting, ringing doorbells
  DriverStaging,     // the driver's staged copies, both directions at once
  PathLatency,       // PCIe hops: endpoints, switches, root complexes, sockets, walks
  NvlinkLatency,
  NetworkLatency,
  CoreCopy,       // one core copying
  BarAccess,      // the CPU's loads and stores through BAR1
  PageMigration,  // Unified Memory
};
inline constexpr std::size_t kParameterCount = 22;

// Factors on the figure in use. `source`: what the range was read from.
struct ParameterRange {
  Parameter parameter;
  std::string_view name;
  double low;
  double high;
  std::string_view source;
};
std::span<ParameterRange const, kParameterCount> parameter_ranges();

// Run-to-run spread of one measurement against the median of many, either way.
// Source: NVIDIA/cuda-samples issue 449: ten runs of p2pBandwidthLatencyTest spread over 5 to 8 % of their mean.
inline constexpr double kRunToRunSpread = 0.04;

// The factor on every parameter; all 1 unless someone asks what would be if.
class Assumptions {
 public:
  Assumptions() = default;
  Assumptions(Parameter parameter, double factor) : nominal_(false) {
    factors_.at(static_cast<std::size_t>(parameter)) = factor;
  }
  // Whether every factor is 1.
  [[nodiscard]] bool is_nominal() const { return nominal_; }
  [[nodiscard]] double operator()(Parameter parameter) const { return factors_[static_cast<std::size_t>(parameter)]; }

 private:
  static constexpr std::array<double, kParameterCount> ones() {
    std::array<double, kParameterCount> all{};
    all.fill(1.0);
    return all;
  }
  std::array<double, kParameterCount> factors_ = ones();
  bool nominal_ = true;
};

}  // namespace lanewise
