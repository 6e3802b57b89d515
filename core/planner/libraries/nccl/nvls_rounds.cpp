#include "core/planner/libraries/nccl/nvls_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace lanewise::nccl {
namespace {

constexpr std::size_t kMaxHeads = 32;  // device.h: NCCL_MAX_NVLS_ARITY
constexpr int kLeastChunk = 1024;      // of what a variable may say

// enqueue.cc: smaller chunks for few bytes, so that the stages are busy at once. `concurrent`: chunks of a round.
double chunk_of(AlgorithmKind algorithm, double bytes, double concurrent, std::size_t nodes, Library const& library,
                Environment const& environment) {
  double chunk = std::max(kLeastChunk, number_in(environment, "NCCL_NVLS_CHUNKSIZE").value_or(131072));
  std::vector<std::pair<double, double>> smaller{{64, 65536}, {8, 32768}, {2, 16384}};
  if (algorithm == AlgorithmKind::NvlsTree) {
    if (library.minor < 21) chunk = 524288;  // a step of the buffer
    auto const most = number_in(environment, "NCCL_NVLSTREE_MAX_CHUNKSIZE");
    if (most || nodes >= 4) chunk = std::min<double>(chunk, std::max(kLeastChunk, most.value_or(65536)));
    smaller = {{32, 262144}, {16, 131072}, {4, 65536}, {1, 32768}};
  }
  for (auto const& [times, size] : smaller)
    if (bytes < times * concurrent * chunk) chunk = std::min(chunk, size);
  return chunk;
}

}  // namespace

NvlsRounds::NvlsRounds(AlgorithmKind algorithm, double bytes, int channels, std::size_t gpus, std::size_t nodes,
                       Library const& library, Environment const& environment)
    : algorithm_(algorithm), bytes_(bytes), heads_(static_cast<double>(std::min(gpus, kMaxHeads))), nodes_(nodes) {
  auto const concurrent = static_cast<double>(channels) * heads_;
  round_bytes_ = concurrent * chunk_of(algorithm, bytes, concurrent, nodes, library, environment);
}

double NvlsRounds::filled() const { return 1 + 1 / std::max(bytes_ / round_bytes_, 1.0); }

Seconds NvlsRounds::time_of_chunks(Seconds of_chunk) const {
  // Around a tree of nodes a chunk is added and multiplied in two.
  auto const stages = algorithm_ == AlgorithmKind::NvlsTree ? 2 : 1;
  return of_chunk * (heads_ * (bytes_ / round_bytes_ + 1) * stages);
}

Seconds NvlsRounds::time_to_fill_tree(BytesPerSecond of_nic) const {
  auto const hops = 2 * std::ceil(std::log2(static_cast<double>(nodes_)));
  auto const of_head = std::min(round_bytes_, bytes_) / heads_;
  return Seconds(std::max(0.0, hops * of_head / of_nic.value() - nvls_tree_hops_us(nodes_) * 1e-6));
}

}  // namespace lanewise::nccl
