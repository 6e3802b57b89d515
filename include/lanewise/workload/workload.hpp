#pragma once
// Training or inference of a language model, as a scenario's block `workload` states it: the model, its mode, how it is
// divided over ranks, and how large a batch is.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library_name.hpp"
#include "lanewise/units/quantity.hpp"
#include "lanewise/workload/chakra/execution_trace.hpp"
#include "lanewise/workload/language_model.hpp"

namespace lanewise {

enum class WorkloadMode : std::uint8_t {
  Train,      // a step of the optimizer
  Prefill,    // the prompts of a batch, until the first token
  Decode,     // one token of each sequence of a batch
  KvTransfer  // the cache of a prompt, from the GPUs that prefill to those that decode
};
std::string_view to_string(WorkloadMode mode);

enum class NumberFormat : std::uint8_t { Fp32, Bf16, Fp16, Fp8, Fp4 };
std::string_view to_string(NumberFormat format);
int bits_of(NumberFormat format);  // scales of blocks are left out
inline double bytes_of(NumberFormat format) { return bits_of(format) / 8.0; }

// In which format each thing is sent, kept or computed.
struct Precisions {
  NumberFormat weights = NumberFormat::Bf16;      // as gathered and read
  NumberFormat activations = NumberFormat::Bf16;  // between layers, ranks and stages
  NumberFormat gradients = NumberFormat::Fp32;    // as summed over replicas
  NumberFormat kv = NumberFormat::Bf16;           // of the cache
  NumberFormat dispatch = NumberFormat::Bf16;     // of tokens to experts
  NumberFormat combine = NumberFormat::Bf16;      // of their results back
  NumberFormat matrices = NumberFormat::Bf16;     // of matrix multiplications: which peak rate
  friend bool operator==(Precisions const&, Precisions const&) = default;
};

enum class ContextKind : std::uint8_t { Ring, AllGather, Ulysses };  // how attention sees the other parts of a sequence
enum class Recompute : std::uint8_t { None, Full };                  // of activations in the backward pass

// How ranks divide the work; the product of tp, cp, pp and dp is their number.
struct Parallelism {
  int tp = 1;       // tensor: a layer's matrices
  bool sp = false;  // sequence parallel: beside tp, the rest of a layer by tokens (Korthikanti et al. 2022)
  int cp = 1;       // context: a sequence
  ContextKind cp_kind = ContextKind::Ring;
  int pp = 1;      // pipeline: layers
  int vpp = 1;     // chunks of layers on each stage (interleaved; Narayanan et al. 2021)
  int dp = 1;      // data: replicas
  int zero = 0;    // 1: optimizer state, 2: gradients, 3: weights too are divided over replicas (ZeRO, FSDP)
  int shards = 0;  // of zero 3: ranks that share one copy of the weights (HSDP); 0: all replicas
  int ep = 1;      // expert: the experts of a layer, over ranks that differ in tp, cp or dp
  int etp = 0;     // tensor parallel within an expert; 0: as tp
  std::string order = "tp-cp-ep-dp-pp";  // innermost first
  bool search_order = false;             // of all orders that with the shortest step; `order` is the first to be tried
  friend bool operator==(Parallelism const&, Parallelism const&) = default;
  [[nodiscard]] int ranks() const { return tp * cp * pp * dp; }
  [[nodiscard]] int expert_tp() const { return etp == 0 ? tp : etp; }
  // Ranks that have the same weights: outside experts, and of experts.
  [[nodiscard]] int replicas() const { return dp * cp; }
  [[nodiscard]] int expert_replicas() const { return tp * cp * dp / (ep * expert_tp()); }
};

struct Batch {
  int global = 0;         // train: sequences of a step, of all replicas
  int micro = 1;          // train: sequences that pass the pipeline at once
  int sequence = 0;       // train: tokens of a sequence
  int concurrency = 1;    // inference: sequences of a batch of one replica
  int prompt = 0;         // tokens of a prompt
  int output = 0;         // decode: tokens that a sequence has got in the mean; of it half count as context
  double prefix_hit = 0;  // the share of a prompt that the cache has already
  std::optional<PerSecond> request_rate = {};  // kv_transfer: prompts that end, of the whole service
  friend bool operator==(Batch const&, Batch const&) = default;
};

// How tokens go to experts.
enum class Dispatcher : std::uint8_t {
  PerExpert,  // a copy for each expert of a token (Megatron's and vLLM's all-to-all)
  PerRank     // a copy for each rank that has one of them (DeepEP within a node)
};
struct ExpertRouting {
  double imbalance = 1;                        // tokens of the busiest rank over the mean
  std::vector<double> tokens_per_expert = {};  // counted, of one layer; empty: `imbalance` says it
  Dispatcher dispatcher = Dispatcher::PerExpert;
  friend bool operator==(ExpertRouting const&, ExpertRouting const&) = default;
};

// Which communication a library hides behind computing.
struct Overlap {
  bool tp = false;  // behind the matrix multiplication that makes or uses what is sent, in as many pieces as ranks
  bool cp = true;   // ring: behind the attention of the part that is there
  bool ep = false;  // behind the computing of another micro-batch
  bool dp = true;   // gradients behind the last backward pass, weights behind the next forward pass
  bool pp = true;   // behind other micro-batches, except while the pipeline fills and drains
  friend bool operator==(Overlap const&, Overlap const&) = default;
};

// Where a rank keeps what is not in its GPU's memory.
enum class MemoryTier : std::uint8_t {
  Host,  // the memory of its NUMA node
  Nvme   // a drive of its node
};

// What of a rank's state is outside of its GPU's memory, and goes there when it is used.
struct Offload {
  double weights = 0;      // the share that every pass copies
  double kv = 0;           // inference: the share of the cache
  bool optimizer = false;  // train: its state, and the update (ZeRO-Offload)
  MemoryTier to = MemoryTier::Host;
  friend bool operator==(Offload const&, Offload const&) = default;
};

// What is saved of a training.
struct Checkpoint {
  int every = 0;                 // steps
  int bytes_per_parameter = 14;  // Adam: 4 for each of a copy of the weights and two moments, and 2 for the weights
  MemoryTier to = MemoryTier::Host;
  friend bool operator==(Checkpoint const&, Checkpoint const&) = default;
};

// How training gets its tokens.
struct DataLoading {
  int bytes_per_token = 4;
  MemoryTier from = MemoryTier::Host;
  friend bool operator==(DataLoading const&, DataLoading const&) = default;
};

// A step time that was measured with another number of ranks of the same kind, from which the computing is fitted.
struct FittedStep {
  Seconds step_time{0};
  Parallelism parallel;
  Batch batch;
  std::string machine;  // on which it ran; empty: that of the workload
  friend bool operator==(FittedStep const&, FittedStep const&) = default;
};

// How long computing was measured to take, by the number of tokens.
struct ComputeTable {
  struct Row {
    double tokens = 0;
    Seconds forward{0};  // of one micro-batch on one stage
    std::optional<Seconds> backward;
    friend bool operator==(Row const&, Row const&) = default;
  };
  std::string file;
  std::vector<Row> rows;  // ascending by tokens
  friend bool operator==(ComputeTable const&, ComputeTable const&) = default;
};

// How long computing takes: lanewise does not predict that.
struct ComputeTime {
  std::optional<double> mfu;                 // model FLOPs over the peak of its GPU while it computes
  std::optional<double> memory_utilization;  // decode: what is read over the memory bandwidth
  std::optional<Seconds> forward, backward;  // of one micro-batch on one stage
  std::optional<ComputeTable> table;
  std::optional<FittedStep> fitted;
  friend bool operator==(ComputeTime const&, ComputeTime const&) = default;
};

// A message from one rank to another that a trace has.
struct TracedSend {
  std::int64_t bytes = 0;
  int from = 0, to = 0;
  friend auto operator<=>(TracedSend const&, TracedSend const&) = default;
};

// A step as execution traces have it, instead of a model and how it is divided.
struct TracedStep {
  std::string file;  // as the scenario names it: "llama.%d.et"
  int ranks = 1;
  bool one_for_all = false;                        // rank 0's trace stands for the others
  ExecutionTrace trace;                            // of rank 0
  std::map<std::string, std::vector<int>> groups;  // ranks by the name that nodes have for them
  std::vector<TracedSend> sends;                   // of all ranks, each once; empty where one trace stands for all
  friend bool operator==(TracedStep const&, TracedStep const&) = default;
};

struct Workload {
  LanguageModel model;
  WorkloadMode mode = WorkloadMode::Train;
  Precisions precision;
  Parallelism parallel;
  Batch batch;
  ExpertRouting routing;
  Overlap overlap;
  Offload offload = {};
  std::optional<Checkpoint> checkpoint = {};
  std::optional<DataLoading> data = {};
  Recompute recompute = Recompute::None;
  ComputeTime compute;
  std::optional<TracedStep> trace = {};  // if given, the step is this; all before is unused but parallel.dp, its ranks
  std::optional<Library> library = {};   // plans the collectives; nullopt: as well as possible
  std::vector<std::string> ranks;        // GPUs in the order of ranks; empty: those of the machine in its own order
  std::vector<std::string> decode;       // kv_transfer: the GPUs that receive
  SourcePos pos;
  friend bool operator==(Workload const&, Workload const&) = default;
};

}  // namespace lanewise
