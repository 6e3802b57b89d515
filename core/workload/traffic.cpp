#include "core/workload/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/workload/storage_traffic.hpp"
#include "core/workload/trace_traffic.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 13> kExchanges{
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "ring shift",    "send",     "send",
    "from host",  "to host",    "from drive",     "to drive",   "host to drive", "broadcast"};
constexpr std::array<std::string_view, 8> kPhases{"forward", "backward", "gradients",  "weights",
                                                  "once",    "ahead",    "afterwards", "traced"};

Bytes whole(double bytes) { return Bytes(static_cast<std::int64_t>(std::ceil(bytes))); }

class TrafficBuilder {
 public:
  explicit TrafficBuilder(Workload const& workload)
      : w_(workload),
        p_(workload.parallel),
        model_(workload.model),
        micro_(micro_batches(workload)),
        layers_(layers_of_stage(workload)),
        expert_layers_(layers_ * model_.expert_layers() / model_.layers),
        tokens_(static_cast<double>(tokens_at_once(workload)) / p_.cp),
        activation_(tokens_ * model_.hidden_size * bytes_of(workload.precision.activations)),
        trains_(workload.mode == WorkloadMode::Train) {}

  std::vector<TrafficPattern> build() {
    if (w_.mode == WorkloadMode::KvTransfer) {
      add_cache_transfer();
      return std::move(found_);
    }
    add_tensor();
    add_context();
    add_experts();
    add_pipeline();
    if (trains_ && w_.recompute == Recompute::Full) repeat_forward();
    if (trains_) add_replicas();
    for (auto& pattern : storage_traffic_of(w_)) found_.push_back(std::move(pattern));
    return std::move(found_);
  }

 private:
  void add(std::string id, std::string what, Exchange exchange, RankGroup among, double bytes, double count,
           StepPhase phase) {
    if (count <= 0 || bytes <= 0) return;
    found_.push_back({std::move(id), std::move(what), exchange, among, whole(bytes), count, phase});
  }

  // Experts over ranks exchange tokens, and with sequence parallel nothing else; without, what the ranks of `tp` have
  // in parts is summed as after a dense network.
  [[nodiscard]] bool experts_exchange() const { return p_.sp && (p_.ep > 1 || p_.expert_tp() != p_.tp); }

  void add_tensor() {
    if (p_.tp == 1) return;
    auto const blocks = 2 * layers_ - (experts_exchange() ? expert_layers_ : 0);  // that end with a sum over the ranks
    auto const what = experts_exchange() && expert_layers_ > 0
                          ? std::string("activations after attention and after dense feed-forward networks")
                          : std::string("activations after attention and after the feed-forward network");
    auto const sums = [&](std::string const& id, double count, StepPhase phase) {
      if (!p_.sp) return add(id, what, Exchange::AllReduce, RankGroup::Tensor, activation_, count, phase);
      add(id + "-gather", "tokens before them, sequence parallel", Exchange::AllGather, RankGroup::Tensor, activation_,
          count, phase);
      add(id + "-scatter", what + ", sequence parallel", Exchange::ReduceScatter, RankGroup::Tensor, activation_, count,
          phase);
    };
    sums("tp-forward", blocks * micro_, StepPhase::Forward);
    if (trains_) {
      auto const again = w_.recompute == Recompute::Full ? 2 : 1;  // forward once more
      sums("tp-backward", again * blocks * micro_, StepPhase::Backward);
    }
    add_vocabulary();
  }

  void add_vocabulary() {
    add("tp-embedding", "of the vocabulary's parts, on the first stage", Exchange::AllReduce, RankGroup::Tensor,
        activation_, micro_, StepPhase::Forward);
    if (trains_)
      add("tp-loss", "maxima and sums of the parallel cross-entropy, on the last stage", Exchange::AllReduce,
          RankGroup::Tensor, 3 * 4 * tokens_, micro_, StepPhase::Forward);
    else
      add("tp-logits", "of the vocabulary's parts, on the last stage", Exchange::AllGather, RankGroup::Tensor,
          std::max(1, w_.batch.concurrency) * static_cast<double>(model_.vocabulary) *
              bytes_of(w_.precision.activations),
          1, StepPhase::Forward);
    for (auto& pattern : found_)
      pattern.in_layers =
          pattern.in_layers && pattern.id != "tp-embedding" && pattern.id != "tp-loss" && pattern.id != "tp-logits";
  }

  // What the forward pass sends within a layer, once more in the backward pass; add_tensor() counts its own.
  void repeat_forward() {
    auto const once = found_;
    for (auto pattern : once) {
      bool const in_layer = pattern.among == RankGroup::Context || pattern.among == RankGroup::Expert ||
                            pattern.among == RankGroup::ExpertTensor;
      if (!in_layer || pattern.phase != StepPhase::Forward) continue;
      pattern.id += "-again";
      pattern.what += ", recomputed";
      pattern.phase = StepPhase::Backward;
      found_.push_back(std::move(pattern));
    }
  }

  void add_context() {
    if (p_.cp == 1) return;
    auto const element = bytes_of(w_.precision.activations);
    // Keys and values of the tokens of one rank.
    auto const own =
        2.0 * tokens_ * model_.key_value_heads * model_.head_size * element / std::min(p_.tp, model_.key_value_heads);
    auto const calls = layers_ * micro_;
    if (p_.cp_kind == ContextKind::Ring) {
      add("cp-forward", "keys and values of another part of the sequence", Exchange::RingShift, RankGroup::Context, own,
          (p_.cp - 1) * calls, StepPhase::Forward);
      if (trains_)
        add("cp-backward", "keys and values, and their gradients", Exchange::RingShift, RankGroup::Context, 2 * own,
            (p_.cp - 1) * calls, StepPhase::Backward);
    } else if (p_.cp_kind == ContextKind::AllGather) {
      add("cp-forward", "keys and values of the whole sequence", Exchange::AllGather, RankGroup::Context, own * p_.cp,
          calls, StepPhase::Forward);
      if (!trains_) return;
      add("cp-backward-gather", "keys and values of the whole sequence", Exchange::AllGather, RankGroup::Context,
          own * p_.cp, calls, StepPhase::Backward);
      add("cp-backward-scatter", "gradients of keys and values", Exchange::ReduceScatter, RankGroup::Context,
          own * p_.cp, calls, StepPhase::Backward);
    } else {
      auto const heads = activation_ / p_.tp;  // one of queries, keys, values and results
      add("cp-forward", "queries, keys, values and results by heads", Exchange::AllToAll, RankGroup::Context, heads,
          4 * calls, StepPhase::Forward);
      if (trains_)
        add("cp-backward", "their gradients", Exchange::AllToAll, RankGroup::Context, heads, 4 * calls,
            StepPhase::Backward);
    }
  }

  void add_experts() {
    if (p_.ep == 1 || model_.experts == 0) return;
    // With sequence parallel each rank of `tp` has its own tokens; without, they divide them before they send.
    auto const tokens = tokens_ / p_.tp;
    auto const copies =
        w_.routing.dispatcher == Dispatcher::PerRank ? expected_expert_ranks(model_, p_.ep) : model_.experts_per_token;
    auto const sent = tokens * copies * model_.hidden_size * imbalance_of(w_.routing, p_.ep);
    auto const calls = expert_layers_ * micro_;
    auto const dispatch = sent * bytes_of(w_.precision.dispatch);
    auto const combine = sent * bytes_of(w_.precision.combine);
    add("ep-dispatch", "tokens to their experts", Exchange::AllToAll, RankGroup::Expert, dispatch, calls,
        StepPhase::Forward);
    add("ep-combine", "results of experts", Exchange::AllToAll, RankGroup::Expert, combine, calls, StepPhase::Forward);
    if (trains_)
      add("ep-backward", "gradients of both", Exchange::AllToAll, RankGroup::Expert, combine, 2 * calls,
          StepPhase::Backward);
    if (p_.expert_tp() == 1) return;
    // The ranks of one expert gather what each of them received, and scatter the sums (Megatron-LM,
    // token_dispatcher.py).
    add("etp-gather", "tokens of an expert's ranks", Exchange::AllGather, RankGroup::ExpertTensor,
        dispatch * p_.expert_tp(), calls, StepPhase::Forward);
    add("etp-scatter", "results of an expert's ranks", Exchange::ReduceScatter, RankGroup::ExpertTensor,
        combine * p_.expert_tp(), calls, StepPhase::Forward);
    if (!trains_) return;
    add("etp-backward-gather", "their gradients", Exchange::AllGather, RankGroup::ExpertTensor,
        combine * p_.expert_tp(), calls, StepPhase::Backward);
    add("etp-backward-scatter", "their gradients", Exchange::ReduceScatter, RankGroup::ExpertTensor,
        combine * p_.expert_tp(), calls, StepPhase::Backward);
  }

  void add_pipeline() {
    if (p_.pp == 1) return;
    auto const sent = activation_ / (p_.sp ? p_.tp : 1);
    add("pp-forward", "activations to the next stage", Exchange::NextStage, RankGroup::Pipeline, sent, micro_ * p_.vpp,
        StepPhase::Forward);
    if (trains_)
      add("pp-backward", "their gradients to the stage before", Exchange::NextStage, RankGroup::Pipeline, sent,
          micro_ * p_.vpp, StepPhase::Backward);
  }

  void add_replicas() {
    auto const own = parameters_of_rank(w_);
    auto const replicas = p_.replicas();
    auto const expert_replicas = p_.expert_replicas();
    if (p_.zero == 3) {
      auto const shards = p_.shards > 0 ? p_.shards : replicas;
      add_sharded("fsdp", RankGroup::Shards, shards, own.dense);
      add_sharded("fsdp-experts", RankGroup::ExpertReplicas, expert_replicas, own.experts);
      if (shards < replicas)
        add("hsdp-gradients", "gradients of one shard, by layers", Exchange::AllReduce, RankGroup::ShardReplicas,
            own.dense / shards / layers_ * bytes_of(w_.precision.gradients), layers_, StepPhase::Gradients);
      return;
    }
    add_gradients("dp", RankGroup::Replicas, replicas, own.dense);
    add_gradients("expert-dp", RankGroup::ExpertReplicas, expert_replicas, own.experts);
  }

  // Of each layer of each micro-batch weights are gathered forward and backward, and gradients are summed.
  void add_sharded(std::string const& id, RankGroup among, int ranks, double parameters) {
    if (ranks == 1) return;
    auto const layer = parameters / layers_;
    auto const calls = layers_ * micro_;
    add(id + "-forward", "weights of a layer", Exchange::AllGather, among, layer * bytes_of(w_.precision.weights),
        calls, StepPhase::Forward);
    add(id + "-backward", "weights of a layer", Exchange::AllGather, among, layer * bytes_of(w_.precision.weights),
        calls, StepPhase::Backward);
    add(id + "-gradients", "gradients of a layer", Exchange::ReduceScatter, among,
        layer * bytes_of(w_.precision.gradients), calls, StepPhase::Backward);
  }

  void add_gradients(std::string const& id, RankGroup among, int ranks, double parameters) {
    if (ranks == 1 || parameters == 0) return;
    auto const buckets = gradient_buckets(parameters, ranks);
    auto const bucket = parameters / buckets;
    if (p_.zero == 0)
      return add(id + "-gradients", "gradients, in buckets", Exchange::AllReduce, among,
                 bucket * bytes_of(w_.precision.gradients), buckets, StepPhase::Gradients);
    add(id + "-gradients", "gradients, in buckets", Exchange::ReduceScatter, among,
        bucket * bytes_of(w_.precision.gradients), buckets, StepPhase::Gradients);
    add(id + "-weights", "updated weights, in buckets", Exchange::AllGather, among,
        bucket * bytes_of(w_.precision.weights), buckets, StepPhase::Weights);
  }

  void add_cache_transfer() {
    auto const tokens = w_.batch.prompt * (1 - w_.batch.prefix_hit);
    add("kv", "the cache of a prompt", Exchange::PrefillToDecode, RankGroup::Tensor,
        kv_bytes_of_rank(w_, tokens) * w_.batch.concurrency, 1, StepPhase::Once);
  }

  Workload const& w_;
  Parallelism const& p_;
  LanguageModel const& model_;
  int micro_;
  double layers_;         // of one stage
  double expert_layers_;  // of one stage
  double tokens_;         // of one rank of cp
  double activation_;     // bytes of these tokens between layers
  bool trains_;
  std::vector<TrafficPattern> found_;
};

}  // namespace

std::string_view to_string(Exchange exchange) { return kExchanges.at(static_cast<std::size_t>(exchange)); }
std::string_view to_string(StepPhase phase) { return kPhases.at(static_cast<std::size_t>(phase)); }

double wire_bytes_per_step(TrafficPattern const& pattern, std::size_t group_size) {
  auto const ranks = static_cast<double>(group_size);
  auto const bytes = static_cast<double>(pattern.bytes.value());
  auto const share = [&] {
    switch (pattern.exchange) {
      case Exchange::AllReduce: return 2 * (ranks - 1) / ranks;
      case Exchange::AllGather:
      case Exchange::ReduceScatter:
      case Exchange::AllToAll: return (ranks - 1) / ranks;
      default: return 1.0;
    }
    return 1.0;
  }();
  return pattern.count * share * bytes;
}

int layers_of_stage(Workload const& workload) {
  auto const chunks = workload.parallel.pp * workload.parallel.vpp;
  return (workload.model.layers + chunks - 1) / chunks * workload.parallel.vpp;
}

int micro_batches(Workload const& workload) {
  if (workload.mode != WorkloadMode::Train) return 1;
  return workload.batch.global / (workload.parallel.dp * workload.batch.micro);
}

std::int64_t tokens_at_once(Workload const& workload) {
  auto const& batch = workload.batch;
  switch (workload.mode) {
    case WorkloadMode::Train: return std::int64_t{batch.micro} * batch.sequence;
    case WorkloadMode::Decode: return batch.concurrency;
    case WorkloadMode::Prefill:
    case WorkloadMode::KvTransfer: break;
  }
  return std::llround(static_cast<double>(batch.concurrency) * batch.prompt * (1 - batch.prefix_hit));
}

RankParameters parameters_of_rank(Workload const& workload) {
  auto const& p = workload.parallel;
  auto const experts = static_cast<double>(workload.model.expert_parameters());
  auto const dense = static_cast<double>(workload.model.parameters) - experts;
  return {dense / p.tp / p.pp, experts / p.expert_tp() / p.ep / p.pp};
}

double gradient_buckets(double parameters, int replicas) {
  return std::ceil(parameters / std::max(40e6, 1e6 * replicas));
}

double expected_expert_ranks(LanguageModel const& model, int ep) {
  // A rank has none of a token's experts with the probability C(N - N/E, K) / C(N, K).
  auto const elsewhere = model.experts - model.experts / ep;
  double none = 1;
  for (int i = 0; i < model.experts_per_token; ++i)
    none *= std::max(0.0, static_cast<double>(elsewhere - i) / (model.experts - i));
  return ep * (1 - none);
}

double imbalance_of(ExpertRouting const& routing, int ep) {
  auto const& tokens = routing.tokens_per_expert;
  if (tokens.empty()) return routing.imbalance;
  auto const of_rank = static_cast<std::ptrdiff_t>(tokens.size()) / ep;
  auto const all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  double most = 0;
  for (int rank = 0; rank < ep; ++rank)
    most = std::max(most, std::accumulate(tokens.begin() + rank * of_rank, tokens.begin() + (rank + 1) * of_rank, 0.0));
  return most * ep / all;
}

double kv_bytes_of_rank(Workload const& workload, double tokens) {
  auto const& model = workload.model;
  auto const windowed = std::min<double>(tokens, model.sliding_window);
  auto const elements = tokens * static_cast<double>(model.kv_elements_per_token()) +
                        windowed * static_cast<double>(model.windowed_kv_elements_per_token());
  // A latent is on every rank of tp; heads are divided while there are enough.
  auto const divided = model.latent_key_value_size > 0 ? 1 : std::min(workload.parallel.tp, model.key_value_heads);
  return elements * bytes_of(workload.precision.kv) / divided / workload.parallel.pp / workload.parallel.cp;
}

std::vector<TrafficPattern> traffic_of(Workload const& workload) {
  return workload.trace ? traffic_of_trace(*workload.trace).patterns : TrafficBuilder(workload).build();
}

std::vector<std::vector<int>> rank_groups_of(TrafficPattern const& pattern, Workload const& workload) {
  return pattern.groups.empty() ? RankGrid(workload.parallel).groups(pattern.among) : pattern.groups;
}

}  // namespace lanewise
