#include "core/workload/traffic.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lanewise {
namespace {

using testing::ElementsAre;

// The worked example: Llama-3 70B, TP8 PP4 DP4, sequences of 8192, 8 micro-batches, bf16.
Workload worked_example() {
  Workload workload;
  workload.model = find_language_model("llama-3-70b");
  workload.parallel.tp = 8;
  workload.parallel.pp = 4;
  workload.parallel.dp = 4;
  workload.batch.global = 32;
  workload.batch.sequence = 8192;
  return workload;
}

TrafficPattern pattern(Workload const& workload, std::string const& id) {
  auto const all = traffic_of(workload);
  auto const found = std::find_if(all.begin(), all.end(), [&](auto const& one) { return one.id == id; });
  if (found != all.end()) return *found;
  ADD_FAILURE() << "no pattern " << id;
  return {};
}

TEST(Traffic, IsThatOfTheWorkedExample) {
  auto const workload = worked_example();
  EXPECT_EQ(micro_batches(workload), 8);
  auto const forward = pattern(workload, "tp-forward");
  auto const backward = pattern(workload, "tp-backward");
  EXPECT_EQ(forward.bytes, Bytes(134217728));  // 1 x 8192 x 8192 x 2
  EXPECT_EQ(forward.exchange, Exchange::AllReduce);
  EXPECT_DOUBLE_EQ(forward.count + backward.count, 640);  // 4 x 20 x 8
  // 640 x 2 x 7/8 x 134.2 MB
  EXPECT_NEAR(wire_bytes_per_step(forward, 8) + wire_bytes_per_step(backward, 8), 150e9, 1e9);
  auto const sent = pattern(workload, "pp-forward");
  EXPECT_EQ(sent.bytes, Bytes(134217728));
  EXPECT_DOUBLE_EQ(sent.count, 8);
  EXPECT_NEAR(parameters_of_rank(workload).dense, 2.2e9, 0.01e9);  // P / (tp x pp)
}

TEST(Traffic, DistributedOptimizerSumsGradientsAndGathersWeights) {
  auto workload = worked_example();
  workload.parallel.zero = 1;
  auto const gradients = pattern(workload, "dp-gradients");
  auto const weights = pattern(workload, "dp-weights");
  EXPECT_EQ(gradients.exchange, Exchange::ReduceScatter);
  auto const all = gradients.count * static_cast<double>(gradients.bytes.value()) +
                   weights.count * static_cast<double>(weights.bytes.value());
  EXPECT_NEAR(all, 70.55e9 / 32 * (4 + 2), 1e7);  // 13.2 GB
  EXPECT_EQ(gradients.phase, StepPhase::Gradients);
}

TEST(Traffic, SequenceParallelSendsAsMuchInTwoHalves) {
  auto workload = worked_example();
  auto const reduced = pattern(workload, "tp-forward");
  workload.parallel.sp = true;
  auto const gathered = pattern(workload, "tp-forward-gather");
  auto const scattered = pattern(workload, "tp-forward-scatter");
  EXPECT_DOUBLE_EQ(wire_bytes_per_step(gathered, 8) + wire_bytes_per_step(scattered, 8),
                   wire_bytes_per_step(reduced, 8));
  EXPECT_EQ(pattern(workload, "pp-forward").bytes, Bytes(134217728 / 8));  // each rank has an eighth of the tokens
}

TEST(Traffic, ShardedWeightsPassThreeTimes) {
  Workload workload;
  workload.model = find_language_model("llama-3.1-8b");
  workload.parallel.dp = 64;
  workload.parallel.zero = 3;
  workload.batch = {.global = 128, .micro = 1, .sequence = 8192};
  workload.precision.gradients = NumberFormat::Bf16;
  double bytes = 0;
  for (auto const& one : traffic_of(workload)) bytes += one.count * static_cast<double>(one.bytes.value());
  // Two micro-batches, each of which gathers 2 B a parameter twice and scatters 2 B: ZeRO-3 is 1.5 x plain replicas.
  EXPECT_NEAR(bytes, 2 * 3 * 2 * 8.03e9, 1e8);
}

TEST(Traffic, ExpertsGetTheTokensThatAreTheirs) {
  Workload workload;
  workload.model = find_language_model("deepseek-v3");
  workload.mode = WorkloadMode::Decode;
  workload.parallel.dp = 32;
  workload.parallel.ep = 32;
  workload.batch = {.concurrency = 128, .prompt = 4096};
  workload.precision.dispatch = NumberFormat::Fp8;
  auto const dispatch = pattern(workload, "ep-dispatch");
  EXPECT_EQ(dispatch.bytes, Bytes(128LL * 8 * 7168));
  EXPECT_DOUBLE_EQ(dispatch.count, 58);
  EXPECT_EQ(pattern(workload, "ep-combine").bytes, Bytes(2 * 128LL * 8 * 7168));
  workload.routing.dispatcher = Dispatcher::PerRank;
  EXPECT_LT(pattern(workload, "ep-dispatch").bytes, dispatch.bytes);
}

TEST(Traffic, RecomputingRepeatsWhatTheForwardPassSends) {
  auto workload = worked_example();
  auto const once = pattern(workload, "tp-backward").count;
  workload.parallel.cp = 2;
  workload.recompute = Recompute::Full;
  EXPECT_DOUBLE_EQ(pattern(workload, "tp-backward").count, 2 * once);
  auto const again = pattern(workload, "cp-forward-again");
  EXPECT_EQ(again.phase, StepPhase::Backward);
  EXPECT_DOUBLE_EQ(again.count, pattern(workload, "cp-forward").count);
}

// With sequence parallel each rank sends its own tokens, and the ranks of an expert gather what they received.
TEST(Traffic, RanksOfAnExpertGatherItsTokens) {
  Workload workload;
  workload.model = find_language_model("mixtral-8x7b");
  workload.parallel.tp = 4;
  workload.parallel.sp = true;
  workload.parallel.dp = 4;
  workload.parallel.ep = 4;
  workload.batch = {.global = 4, .micro = 1, .sequence = 4096};
  auto const dispatch = pattern(workload, "ep-dispatch");
  EXPECT_EQ(dispatch.bytes, Bytes(4096LL / 4 * 2 * 4096 * 2));  // two experts a token, bf16
  EXPECT_EQ(pattern(workload, "etp-gather").bytes, Bytes(4 * dispatch.bytes.value()));
  workload.parallel.etp = 1;
  EXPECT_EQ(pattern(workload, "ep-dispatch").bytes, dispatch.bytes);
  for (auto const& one : traffic_of(workload)) EXPECT_NE(one.among, RankGroup::ExpertTensor) << one.id;
}

// Uniform routing of K of N experts on E ranks: E x (1 - C(N - N/E, K) / C(N, K)).
TEST(Traffic, ExpectsDistinctRanksOfExperts) {
  LanguageModel model;
  model.experts = 4;
  model.experts_per_token = 2;
  EXPECT_DOUBLE_EQ(expected_expert_ranks(model, 2), 2 * (1 - 1.0 / 6));  // one of six pairs is all on the other rank
  EXPECT_DOUBLE_EQ(expected_expert_ranks(model, 4), 2);
  EXPECT_DOUBLE_EQ(expected_expert_ranks(model, 1), 1);
}

TEST(Traffic, CacheOfAPromptGoesToTheDecodingGpus) {
  Workload workload;
  workload.model = find_language_model("llama-3-70b");
  workload.mode = WorkloadMode::KvTransfer;
  workload.parallel.tp = 8;
  workload.batch = {.concurrency = 1, .prompt = 8192};
  EXPECT_EQ(pattern(workload, "kv").bytes, Bytes(8192LL * 327680 / 8));  // 2.68 GB over eight ranks
  workload.parallel.tp = 16;                                             // eight heads: two ranks hold the same one
  EXPECT_EQ(pattern(workload, "kv").bytes, Bytes(8192LL * 327680 / 8));
  workload.model = find_language_model("deepseek-v3");
  EXPECT_EQ(pattern(workload, "kv").bytes, Bytes(8192LL * 70272));  // each rank has the whole latent
}

TEST(Traffic, DecodingOfOneTokenIsSmall) {
  Workload workload;
  workload.model = find_language_model("llama-3-70b");
  workload.mode = WorkloadMode::Decode;
  workload.parallel.tp = 8;
  workload.batch = {.concurrency = 32, .prompt = 1024};
  auto const sums = pattern(workload, "tp-forward");
  EXPECT_EQ(sums.bytes, Bytes(524288));  // 32 x 8192 x 2
  EXPECT_DOUBLE_EQ(sums.count, 160);     // two of each layer
}

TEST(RankGrid, PutsTensorParallelInnermost) {
  Parallelism p;
  p.tp = 2;
  p.pp = 2;
  p.dp = 2;
  RankGrid const grid(p);
  EXPECT_THAT(grid.groups(RankGroup::Tensor),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6, 7)));
  EXPECT_THAT(grid.groups(RankGroup::Replicas),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
  EXPECT_THAT(grid.groups(RankGroup::Pipeline),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  p.order = "tp-pp-cp-ep-dp";
  EXPECT_THAT(RankGrid(p).groups(RankGroup::Pipeline),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(RankGrid, ExpertsAreSharedByReplicas) {
  Parallelism p;
  p.tp = 2;
  p.dp = 4;
  p.ep = 2;
  RankGrid const grid(p);  // an expert keeps the tensor parallel ranks of the rest
  EXPECT_THAT(grid.groups(RankGroup::Expert),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
  EXPECT_THAT(grid.groups(RankGroup::ExpertReplicas),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  p.etp = 1;
  EXPECT_THAT(RankGrid(p).groups(RankGroup::Expert),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6, 7)));
}

TEST(RankGrid, EveryRankIsInOneGroup) {
  Parallelism p;
  p.tp = 2;
  p.cp = 3;
  p.pp = 2;
  p.dp = 4;
  p.ep = 4;
  p.shards = 6;
  for (auto const* order : {"tp-cp-ep-dp-pp", "pp-dp-ep-cp-tp", "dp-tp-ep-pp-cp"}) {
    p.order = order;
    for (auto const group :
         {RankGroup::Tensor, RankGroup::Context, RankGroup::Replicas, RankGroup::Shards, RankGroup::ShardReplicas,
          RankGroup::Expert, RankGroup::ExpertReplicas, RankGroup::Pipeline}) {
      std::vector<int> seen;
      auto const groups = RankGrid(p).groups(group);
      for (auto const& one : groups) {
        EXPECT_EQ(one.size(), groups.front().size());
        seen.insert(seen.end(), one.begin(), one.end());
      }
      std::sort(seen.begin(), seen.end());
      std::vector<int> all(static_cast<std::size_t>(p.ranks()));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(seen, all) << order << " " << to_string(group);
    }
  }
}

}  // namespace
}  // namespace lanewise
