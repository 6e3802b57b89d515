#include "core/planner/libraries/rccl/tuning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace lanewise::rccl {
namespace {

using Row = std::array<double, 3>;           // LL, LL128, Simple
using Corrections = std::array<double, 27>;  // one for each power of two from 64 B

// In us. Both tables have the same.
constexpr Row kBase{12, 12, 17};
constexpr std::array<Row, 2> kLinkStep{{{.9, .9, 2.3}, {.8, .8, 2.1}}};  // tree, ring
constexpr std::array<Row, 2> kNetworkStep{{{10.5, 10.5, 25}, {9.5, 9.5, 320}}};

// The share of the channels' rate, with two nodes and with more; of the trees, then of the rings.
constexpr std::array<std::array<Row, 2>, 2> kShare{
    {{{{.06, .06, .11}, {.08, .08, 1}}}, {{{.06, .06, .59}, {.08, .08, 1}}}}};

constexpr Corrections kTreeByFlags{.1, .1, .1, .1, .1, .1, 1,  1,  1,  1,  1,  .6, 1, .9,
                                   1,  1,  .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1};
constexpr Corrections kRingByFlags{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1,  .2, 1,
                                   .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1};

// Of LL, LL128 and Simple.
struct Table {
  std::array<Corrections, 3> tree, ring;
};
constexpr Table kGfx942{{{kTreeByFlags, kTreeByFlags, {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                                                       .1, .7, 1,  1,  1,  1,  1,  .7, .7, .5, .6, .6, .6}}},
                        {{kRingByFlags, kRingByFlags, {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                                                       .1, .1, .1, .1, .1, .1, .1, .1, .7, .2, 1,  1,  1}}}};
constexpr Table kGfx950{
    {{kTreeByFlags,
      {.1, .1, .1, .1, .1, .1, 1, 1, 1, 1, 1, .6, 1, .9, 1, 1, 1, 1, 1, 2, 2, 1, .1, .9, .9, .1, .1},
      {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .7, 1, .1, .1, .1, .1, .1, .7, .15, .6, .7, .6}}},
    {{kRingByFlags,
      {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1, .2, 1, .4, .4, .1, .2, .1, .1, .1, .1, 5.5, .1, .1, 1, 1},
      {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .9, .1, 1, .1, .6, 1, 1}}}};

// Up to so many bytes of each rank by LL, and above them up to so many by LL128.
struct ProtocolLimits {
  double ll, ll128_from, ll128;
};
ProtocolLimits limits_of(CollectiveOp op, Chip chip) {
  bool const older = chip == Chip::Gfx942;
  switch (op) {
    case CollectiveOp::ReduceScatter:
      return older ? ProtocolLimits{655360, 131072, 3211264} : ProtocolLimits{65536, 65536, 8388608};
    case CollectiveOp::AllGather:
      return older ? ProtocolLimits{98304, 98304, 5046272} : ProtocolLimits{65536, 65536, 8388608};
    case CollectiveOp::AllReduce:
      return older ? ProtocolLimits{524288, 524288, 4415057} : ProtocolLimits{262144, 262144, 70640910};
    case CollectiveOp::Broadcast:
      return older ? ProtocolLimits{8192, 8192, 33554432} : ProtocolLimits{2048, 2048, 16777216};
    case CollectiveOp::Reduce: return {16383, 16383, 16777216};  // of gfx950, and taken for gfx942
    default: return {};
  }
}

Protocol protocol_of(CollectiveOp op, double bytes, Communicator const& communicator) {
  auto limits = limits_of(op, communicator.chip);
  constexpr double kOfMoreNodes = 3.8;
  if (op == CollectiveOp::AllReduce && communicator.nodes > 2) limits.ll128 *= kOfMoreNodes;
  auto const ranks = static_cast<double>(communicator.nodes * communicator.per_node);
  auto const of_rank = has_root(op) ? bytes : bytes / ranks;
  if (of_rank > limits.ll128_from && of_rank <= limits.ll128) return Protocol::LL128;
  return of_rank <= limits.ll ? Protocol::LL : Protocol::Simple;
}

// The time that RCCL reckons with, in us.
double estimate(AlgorithmKind algorithm, std::size_t protocol, double bytes, Communicator const& communicator) {
  // Sixteen rings between servers of eight (rome_models.cc), each of the speed of an xGMI link as RCCL counts it.
  constexpr double kChannels = 16;
  constexpr double kChannelRate = 48;
  auto const a = static_cast<std::size_t>(algorithm);
  auto const size = std::clamp(std::floor(std::log2(std::max(bytes, 64.0) / 64)), 0.0, 26.0);
  auto const& table = communicator.chip == Chip::Gfx942 ? kGfx942 : kGfx950;
  auto const& corrections = (algorithm == AlgorithmKind::Tree ? table.tree : table.ring).at(protocol);
  auto const share = kShare.at(communicator.nodes > 2 ? 1 : 0).at(a).at(protocol);
  auto const ranks = static_cast<double>(communicator.nodes * communicator.per_node);
  auto const of_bus = algorithm == AlgorithmKind::Tree ? .5 : ranks / (2 * (ranks - 1));
  auto const rate = kChannels * kChannelRate * share * of_bus * corrections.at(static_cast<std::size_t>(size));  // GB/s
  auto const network = kNetworkStep.at(a).at(protocol);
  auto const link = kLinkStep.at(a).at(protocol);
  double latency = kBase.at(protocol);
  if (algorithm == AlgorithmKind::Tree) {
    auto const levels = std::floor(std::log2(static_cast<double>(communicator.nodes)));
    latency += 2 * (static_cast<double>(communicator.per_node - 1) * link + levels * network);
  } else {
    bool const is_simple = protocol == static_cast<std::size_t>(Protocol::Simple);
    auto const overhead = (communicator.has_amd_cpu ? 2.0 : 1.0) * (is_simple ? 3 : 1);
    auto const between = 2 * static_cast<double>(communicator.nodes - 1);
    latency += (2 * (ranks - 1) - between) * std::max(link, overhead) + between * network;
  }
  return latency + bytes / (1000 * rate);
}

}  // namespace

std::string_view to_string(AlgorithmKind algorithm) { return algorithm == AlgorithmKind::Tree ? "Tree" : "Ring"; }

Choice choose(CollectiveOp op, double bytes, Communicator const& communicator) {
  Choice choice{AlgorithmKind::Ring, protocol_of(op, bytes, communicator)};
  if (op != CollectiveOp::AllReduce) return choice;
  auto best = std::numeric_limits<double>::infinity();
  for (auto const algorithm : {AlgorithmKind::Tree, AlgorithmKind::Ring})
    for (std::size_t protocol = 0; protocol < kBase.size(); ++protocol)
      if (auto const time = estimate(algorithm, protocol, bytes, communicator); time < best) {
        best = time;
        choice.algorithm = algorithm;
      }
  return choice;
}

Latencies latencies(AlgorithmKind algorithm, Protocol protocol) {
  auto const a = static_cast<std::size_t>(algorithm);
  auto const p = static_cast<std::size_t>(protocol);
  // The 320 us of a ring's step by Simple keep RCCL from rings; none takes so long.
  auto const network = std::min(kNetworkStep[0].at(p), kNetworkStep.at(a).at(p));
  return {Seconds(kBase.at(p) * 1e-6), Seconds(kLinkStep.at(a).at(p) * 1e-6), Seconds(network * 1e-6)};
}

}  // namespace lanewise::rccl
