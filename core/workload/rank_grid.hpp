#pragma once
// Which ranks communicate with one another: ranks as a grid of tp, cp, dp and pp, and beside it one of experts.
#include <cstdint>
#include <string_view>
#include <vector>

#include "lanewise/workload/workload.hpp"

namespace lanewise {

// Ranks that differ in this and in nothing else.
enum class RankGroup : std::uint8_t {
  Tensor,
  Context,
  Replicas,       // of the weights outside experts: data and context parallel ranks
  Shards,         // those of them that share one copy of the weights
  ShardReplicas,  // those of them that have the same part of it
  Expert,
  ExpertTensor,    // of one expert
  ExpertReplicas,  // of the weights of experts
  Pipeline,
  Traced,  // as a trace has it: the pattern itself lists the ranks
  // Ranks that do something each for itself, as groups of one:
  Each,
  FirstReplica,        // of those that hold the same weights outside experts, the first
  FirstShards,         // those that share the first copy of the weights
  FirstExpertReplica,  // of those that hold the same experts, the first
  FirstStage
};
std::string_view to_string(RankGroup group);

class RankGrid {
 public:
  explicit RankGrid(Parallelism const& parallel);
  [[nodiscard]] int ranks() const { return ranks_; }
  // Every rank is in exactly one group, or in one of its own or none; each group is sorted, and so are groups by their
  // first ranks. Of the pipeline the ranks of a group are in the order of stages.
  [[nodiscard]] std::vector<std::vector<int>> groups(RankGroup group) const;

 private:
  struct Coordinates {
    int tp, cp, dp, pp;
    int ep, expert_replica;  // with the rest of an expert's ranks, as Megatron divides them
    int etp;
  };
  [[nodiscard]] Coordinates at(int rank) const;
  [[nodiscard]] std::vector<std::vector<int>> singles(RankGroup group, int shards) const;

  Parallelism parallel_;
  int ranks_;
  int tp_stride_ = 0, cp_stride_ = 0, dp_stride_ = 0, pp_stride_ = 0;
};

}  // namespace lanewise
