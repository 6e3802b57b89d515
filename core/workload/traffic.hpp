#pragma once
// The traffic of a workload: what goes among which ranks, how large and how often. It needs no machine.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/rank_grid.hpp"
#include "lanewise/units/quantity.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

enum class Exchange : std::uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  RingShift,  // each rank sends to the next of its group
  NextStage,  // each stage sends to the next one
  PrefillToDecode,
  FromHost,     // a rank reads host memory
  ToHost,       // a rank writes it
  FromDrive,    // a rank reads a drive
  ToDrive,      // a rank writes it
  HostToDrive,  // the host memory of a rank is written to a drive
  Broadcast     // from the first of a group
};
std::string_view to_string(Exchange exchange);

enum class StepPhase : std::uint8_t {
  Forward,     // of each micro-batch
  Backward,    // of each micro-batch
  Gradients,   // once a step, after the backward passes
  Weights,     // once a step, before the forward passes
  Once,        // once a step or less often, with nothing beside it
  Ahead,       // of each micro-batch, while the one before computes
  Afterwards,  // behind the steps that follow, until it happens again
  Traced       // when a trace has it
};
std::string_view to_string(StepPhase phase);

// One kind of message.
struct TrafficPattern {
  std::string id;    // "tp-forward"
  std::string what;  // "activations after attention and after the feed-forward network"
  Exchange exchange = Exchange::AllReduce;
  RankGroup among = RankGroup::Tensor;
  Bytes bytes{0};    // as nccl-tests defines the size; of a send, what one rank sends
  double count = 0;  // a step and rank, on the busiest stage
  StepPhase phase = StepPhase::Forward;
  std::vector<std::vector<int>> groups = {};  // of ranks; empty: those of `among`
  bool in_layers = true;  // with the computing of a layer beside it; not: of the first or last stage alone
  friend bool operator==(TrafficPattern const&, TrafficPattern const&) = default;
};

// Which ranks exchange it; each group at the same time as the others.
std::vector<std::vector<int>> rank_groups_of(TrafficPattern const& pattern, Workload const& workload);

// What one rank sends, or reads of host memory or a drive, in a step: count x the share of the message that leaves it.
double wire_bytes_per_step(TrafficPattern const& pattern, std::size_t group_size);

// Formulas: Megatron-LM (arXiv 1909.08053, 2104.04473, 2205.05198), ZeRO (1910.02054), Ring Attention (2310.01889),
// Ulysses (2309.14509). Groups of one rank send nothing and are left out.
std::vector<TrafficPattern> traffic_of(Workload const& workload);

// Layers on the busiest stage. Where they cannot be divided evenly, embedding and output are counted as layers, as
// Megatron does on request: 126 layers on 8 x 8 chunks are 2 a chunk.
int layers_of_stage(Workload const& workload);
// Micro-batches of a step; of inference 1.
int micro_batches(Workload const& workload);
// Tokens that pass a replica at once: of a micro-batch, or of a batch in inference.
std::int64_t tokens_at_once(Workload const& workload);
// Weights on one rank: outside experts, and of experts.
struct RankParameters {
  double dense = 0;
  double experts = 0;
};
RankParameters parameters_of_rank(Workload const& workload);
// In how many pieces Megatron-LM sends gradients: of max(40 million, 1 million x replicas) parameters each.
double gradient_buckets(double parameters, int replicas);
// Distinct ranks that have some of a token's experts, expected with uniform routing.
double expected_expert_ranks(LanguageModel const& model, int ep);
// Tokens of the busiest rank of a group of `ep` over the mean: as stated, or of the experts that were counted, of which
// each rank has its share of consecutive ones.
double imbalance_of(ExpertRouting const& routing, int ep);
// What the cache holds of `tokens` of one sequence on one rank, in bytes.
double kv_bytes_of_rank(Workload const& workload, double tokens);

}  // namespace lanewise
