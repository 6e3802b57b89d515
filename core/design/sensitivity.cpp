#include "core/design/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace lanewise {
namespace {

constexpr double kMinSwing = 0.001;
constexpr std::size_t kFirstDraw = 1 + 2 * kParameterCount;  // among the samples
constexpr double kNormalOfInterval = 1.645;  // standard deviations from the middle to the end of a 90 % interval

bool says_only_the_end(Parameter parameter) {
  return parameter == Parameter::GenericParts || parameter == Parameter::GenericLatencies ||
         parameter == Parameter::CopyEngines;
}

// std::normal_distribution may differ between standard libraries; the same seed shall give the same result.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  double normal() {  // Box and Muller 1958
    auto const radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }
  double factor(Parameter parameter) {
    auto const& range = parameter_ranges()[static_cast<std::size_t>(parameter)];
    if (says_only_the_end(parameter)) {
      auto const at = uniform();
      return at < 0.25 ? range.low : at < 0.75 ? 1 : range.high;
    }
    auto const deviation = normal() / kNormalOfInterval;
    return std::exp(deviation < 0 ? -deviation * std::log(range.low) : deviation * std::log(range.high));
  }

 private:
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) / 9007199254740992.0; }  // 2^53
  std::mt19937_64 engine_;
};

double lead(std::vector<double> const& scores, std::vector<std::size_t> const& ranking) {
  return scores[ranking[1]] > 0 ? scores[ranking[0]] / scores[ranking[1]] : 1;
}

}  // namespace

std::vector<Assumptions> sensitivity_samples(std::size_t draws, std::uint64_t seed) {
  std::vector<Assumptions> samples{Assumptions()};
  for (auto const& range : parameter_ranges())
    for (auto const end : {range.low, range.high}) samples.emplace_back(range.parameter, end);
  Draws random(seed);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    Assumptions assumed;
    for (auto const& range : parameter_ranges())
      assumed = assumed.with(range.parameter, random.factor(range.parameter));
    samples.push_back(assumed);
  }
  return samples;
}

Sensitivity find_sensitivity(std::vector<std::vector<double>> const& scores, std::vector<std::size_t> const& ranking,
                             std::uint64_t seed) {
  Sensitivity result;
  result.draws = scores.size() - kFirstDraw;
  result.seed = seed;
  if (ranking.size() < 2) return result;
  auto const& ranges = parameter_ranges();
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    Swing const swing{ranges[p].parameter, lead(scores[1 + 2 * p], ranking), lead(scores[2 + 2 * p], ranking)};
    if (std::abs(std::log(swing.at_high / swing.at_low)) > kMinSwing) result.swings.push_back(swing);
  }
  std::stable_sort(result.swings.begin(), result.swings.end(), [](Swing const& a, Swing const& b) {
    return std::abs(std::log(a.at_high / a.at_low)) > std::abs(std::log(b.at_high / b.at_low));
  });
  std::vector<double> won(ranking.size() - 1, 0);
  for (auto draw = kFirstDraw; draw < scores.size(); ++draw)
    for (std::size_t i = 0; i + 1 < ranking.size(); ++i)
      if (scores[draw][ranking[i]] > scores[draw][ranking[i + 1]]) ++won[i];
  auto const count = static_cast<double>(std::max<std::size_t>(result.draws, 1));
  for (std::size_t i = 0; i + 1 < ranking.size(); ++i)
    result.duels.push_back({ranking[i], ranking[i + 1], won[i] / count});
  return result;
}

std::string_view measurement_of(Parameter parameter) {
  switch (parameter) {
    case Parameter::LinkUtilisation:
      return "copies between one GPU and host memory (nvbandwidth host_to_device_memcpy_ce)";
    case Parameter::SwitchFabric: return "copies of several pairs below one switch at once";
    case Parameter::RootComplexPeer:
      return "a copy between GPUs of two root ports of one socket (p2pBandwidthLatencyTest)";
    case Parameter::HostWrites: return "all GPUs of a socket copying to host memory at once";
    case Parameter::HostReads: return "all GPUs of a socket copying from host memory at once";
    case Parameter::HostTraffic: return "all GPUs of a socket copying to and from host memory at once";
    case Parameter::BridgeMemory: return "two GPUs of one host bridge copying to host memory at once";
    case Parameter::HostMemory: return "STREAM";
    case Parameter::HostDuplex: return "one GPU copying both ways (nvbandwidth host_to_device_bidirectional_memcpy_ce)";
    case Parameter::SocketPeer: return "a copy between GPUs of two sockets (p2pBandwidthLatencyTest)";
    case Parameter::IommuWalks:
      return "small DMA over a large buffer with a translating IOMMU (ib_write_bw with many pages)";
    case Parameter::NvlinkEfficiency: return "a copy over NVLink (nvbandwidth device_to_device_memcpy_read_ce)";
    case Parameter::NvlinkDuplex:
      return "copies both ways over NVLink (nvbandwidth device_to_device_bidirectional_memcpy)";
    case Parameter::DeviceMemory: return "a copy within one GPU (nvbandwidth device_local_copy)";
    case Parameter::NetworkRate: return "ib_write_bw between two nodes";
    case Parameter::DriveRate: return "fio with large reads of one drive";
    case Parameter::DriveLatency: return "fio with reads of 4 KiB, one at a time";
    case Parameter::EngineStart: return "4 B copies back to back between two GPUs (p2pBandwidthLatencyTest)";
    case Parameter::HostWork: return "small staged copies (p2pBandwidthLatencyTest without peer access)";
    case Parameter::DriverStaging: return "copies both ways without peer access (p2pBandwidthLatencyTest)";
    case Parameter::PathLatency: return "reads of 128 B by one GPU of another's memory over PCIe";
    case Parameter::NvlinkLatency: return "small copies over NVLink (p2pBandwidthLatencyTest)";
    case Parameter::NetworkLatency: return "ib_write_lat between two nodes";
    case Parameter::CoreCopy: return "memcpy by one core between two NUMA nodes";
    case Parameter::BarAccess: return "gdrcopy copybw";
    case Parameter::PageMigration: return "a prefetch of managed memory";
    case Parameter::LibrarySteps: return "the collective with small sizes (nccl-tests)";
    case Parameter::LibraryMessages: return "the collective between nodes with small sizes (nccl-tests)";
    case Parameter::TokenWarps: return "the engine's exchange of tokens with large sizes";
    case Parameter::MessagePassing: return "osu_latency and osu_bw between two nodes";
    case Parameter::GenericParts:
    case Parameter::GenericLatencies: return "which products the machine's generic parts stand for";
    case Parameter::CopyEngines: return "how many copy engines the GPU has (deviceQuery)";
  }
  return "";
}

}  // namespace lanewise
