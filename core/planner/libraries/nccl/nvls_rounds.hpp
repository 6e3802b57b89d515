#pragma once
// NVLS works in rounds: a chunk for each channel and each head, a GPU whose part the switches add and multiply.
#include "core/planner/libraries/nccl/tuning.hpp"

namespace lanewise::nccl {

class NvlsRounds {
 public:
  // Of one call of NVLS or NVLSTree among so many nodes of so many GPUs.
  NvlsRounds(AlgorithmKind algorithm, double bytes, int channels, std::size_t gpus, std::size_t nodes,
             Library const& library, Environment const& environment);

  [[nodiscard]] double heads() const { return heads_; }
  // What the links carry, over the call's bytes: one round more fills the stages.
  [[nodiscard]] double filled() const;
  // What the chunks take beside their bytes; `of_chunk`: each.
  [[nodiscard]] Seconds time_of_chunks(Seconds of_chunk) const;
  // The first round goes up the tree of nodes and down again, and nothing hides it: what that takes beyond the hops as
  // NCCL counts them.
  [[nodiscard]] Seconds time_to_fill_tree(BytesPerSecond of_nic) const;

 private:
  AlgorithmKind algorithm_;
  double bytes_, heads_;
  std::size_t nodes_;
  double round_bytes_ = 0;
};

}  // namespace lanewise::nccl
