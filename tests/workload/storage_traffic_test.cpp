#include "core/workload/storage_traffic.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "core/workload/step_time.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kLlama70bParameters = 70553706496;

Workload workload_of(std::string const& lines) {
  return *read_scenario(SourceText::from_memory(
                            "s.yaml", "lanewise: scenario/1\nscenario: s\nmachines: [hgx-h100]\nworkload:\n" + lines))
              .workload;
}

// A step of eight sequences.
std::string const kTraining =
    "  model: llama-3-70b\n  mode: train\n  batch: {global: 8, sequence: 8192}\n  compute: {forward: 1 s}\n";
std::string const kDecoding =
    "  model: llama-3-70b\n  mode: decode\n  parallel: {tp: 8}\n  batch: {concurrency: 32, prompt: 1000, output: 48}\n";

std::vector<std::string> ids(std::vector<TrafficPattern> const& patterns) {
  std::vector<std::string> found;
  for (auto const& pattern : patterns) found.push_back(pattern.id);
  return found;
}

Bytes whole_bytes(double bytes) { return Bytes(static_cast<std::int64_t>(std::ceil(bytes))); }

TEST(StorageTraffic, CopiesWeightsLayerByLayer) {
  auto const patterns =
      storage_traffic_of(workload_of(kTraining + "  parallel: {tp: 4, dp: 2}\n  offload: {weights: 30 %, to: nvme}\n"));
  ASSERT_THAT(ids(patterns), ElementsAre("offload-weights-forward", "offload-weights-backward"));
  EXPECT_EQ(patterns[0].bytes, whole_bytes(0.3 * kLlama70bParameters / 4 * 2 / 80));  // bf16, 80 layers
  EXPECT_DOUBLE_EQ(patterns[0].count, 80 * 4);                                        // four micro-batches
  EXPECT_EQ(patterns[0].exchange, Exchange::FromDrive);
  // With zero 3 a rank has only its part of them.
  auto const sharded =
      storage_traffic_of(workload_of(kTraining + "  parallel: {tp: 4, dp: 2, zero: 3}\n  offload: {weights: 30 %}\n"));
  EXPECT_EQ(sharded[0].bytes, whole_bytes(0.3 * kLlama70bParameters / 4 / 2 * 2 / 80));
}

TEST(StorageTraffic, ReadsTheCacheForEachTokenAndWritesItInPrefill) {
  auto const read = storage_traffic_of(workload_of(kDecoding + "  offload: {kv: 50 %}\n"));
  ASSERT_THAT(ids(read), ElementsAre("offload-kv"));
  EXPECT_EQ(read[0].exchange, Exchange::FromHost);
  // 32 sequences of 1000 + 48 / 2 tokens; 327680 B a token of 80 layers and 8 heads, of which a rank has one.
  EXPECT_EQ(read[0].bytes, Bytes(32LL * 1024 * 327680 / 8 / 80 / 2));
  EXPECT_DOUBLE_EQ(read[0].count, 80);
  auto const written = storage_traffic_of(workload_of(
      "  model: llama-3-70b\n  mode: prefill\n  parallel: {tp: 8}\n  batch: {prompt: 1000, prefix_hit: 60 %}\n"
      "  offload: {kv: 50 %}\n"));
  ASSERT_THAT(ids(written), ElementsAre("offload-kv"));
  EXPECT_EQ(written[0].exchange, Exchange::ToHost);
  EXPECT_EQ(written[0].bytes, Bytes(400LL * 327680 / 8 / 80 / 2));
}

TEST(StorageTraffic, LeavesTheOptimizerToTheCpu) {
  auto const patterns = storage_traffic_of(
      workload_of(kTraining + "  parallel: {tp: 4, dp: 2, zero: 1}\n  offload: {optimizer: true}\n"));
  ASSERT_THAT(ids(patterns), ElementsAre("offload-gradients", "offload-updated"));
  auto const own = kLlama70bParameters / 4 / 2;
  EXPECT_DOUBLE_EQ(patterns[0].count, std::ceil(own / 40e6));
  EXPECT_NEAR(patterns[0].count * static_cast<double>(patterns[0].bytes.value()), own * 4, 1e3);  // fp32
  EXPECT_EQ(patterns[0].phase, StepPhase::Gradients);
  EXPECT_EQ(patterns[1].bytes, whole_bytes(own * 2));
  EXPECT_EQ(patterns[1].phase, StepPhase::Once);
}

TEST(StorageTraffic, SavesWhatReplicasHoldOnce) {
  auto const saved = [](std::string const& parallel, std::string const& checkpoint) {
    return storage_traffic_of(
        workload_of(kTraining + "  parallel: " + parallel + "\n  checkpoint: " + checkpoint + "\n"));
  };
  auto const own = kLlama70bParameters / 4;
  auto const plain = saved("{tp: 4, dp: 2}", "{every: 500, to: nvme}");
  ASSERT_THAT(ids(plain), ElementsAre("checkpoint", "checkpoint-write"));
  EXPECT_EQ(plain[0].bytes, whole_bytes(own * 14));
  EXPECT_DOUBLE_EQ(plain[0].count, 1.0 / 500);
  EXPECT_EQ(plain[0].among, RankGroup::FirstReplica);
  EXPECT_EQ(plain[1].exchange, Exchange::HostToDrive);
  EXPECT_EQ(plain[1].phase, StepPhase::Afterwards);
  // Weights of 2 B from the first replica, and half of the other 12 B from each.
  auto const divided = saved("{tp: 4, dp: 2, zero: 1}", "{every: 500}");
  ASSERT_THAT(ids(divided), ElementsAre("checkpoint", "checkpoint-state"));
  EXPECT_EQ(divided[0].bytes, whole_bytes(own * 2));
  EXPECT_EQ(divided[1].bytes, whole_bytes(own * 12 / 2));
  auto const sharded = saved("{tp: 4, dp: 2, zero: 3}", "{every: 500, bytes_per_parameter: 16}");
  ASSERT_THAT(ids(sharded), ElementsAre("checkpoint"));
  EXPECT_EQ(sharded[0].bytes, whole_bytes(own * 16 / 2));
  auto const two_copies = saved("{dp: 8, zero: 3, shards: 4}", "{every: 500}");
  EXPECT_EQ(two_copies[0].among, RankGroup::FirstShards);
  EXPECT_EQ(two_copies[0].bytes, whole_bytes(kLlama70bParameters * 14 / 4));
}

TEST(StorageTraffic, RanksThatSaveAreThoseOfTheFirstReplica) {
  Parallelism p;
  p.tp = 2;
  p.dp = 2;
  p.pp = 2;
  EXPECT_THAT(RankGrid(p).groups(RankGroup::FirstReplica),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(4), ElementsAre(5)));
  EXPECT_THAT(RankGrid(p).groups(RankGroup::FirstStage),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  EXPECT_EQ(RankGrid(p).groups(RankGroup::Each).size(), 8U);
}

PatternTime timed_pattern(StepPhase phase, Seconds each, double count) {
  return {.pattern = {"test", "", Exchange::FromHost, RankGroup::Each, Bytes(1000), count, phase},
          .reach = {},
          .each = each};
}

TEST(StorageTraffic, HidesBehindTheLayerBefore) {
  auto const workload = workload_of(kTraining + "  parallel: {dp: 8}\n");
  // One micro-batch, 80 layers of 12.5 ms: 7.5 ms of each 20 ms are left, and the first copy has nothing before it.
  auto const step =
      compose_step(workload, {timed_pattern(StepPhase::Forward, Seconds(20e-3), 80)}, {Seconds(1), Seconds(2)});
  EXPECT_NEAR(step.exposed.value(), 80 * 7.5e-3 + 12.5e-3, 1e-9);
}

TEST(StorageTraffic, LoadsDataAheadAndWritesCheckpointsAfterwards) {
  auto const workload = workload_of(kTraining + "  parallel: {dp: 8}\n");
  StageTime const stage{Seconds(1), Seconds(2)};
  auto const step = [&](PatternTime const& time) { return compose_step(workload, {time}, stage); };
  EXPECT_NEAR(step(timed_pattern(StepPhase::Ahead, Seconds(2.5), 1)).step.value(), 3, 1e-9);
  EXPECT_NEAR(step(timed_pattern(StepPhase::Ahead, Seconds(4), 1)).step.value(), 4, 1e-9);
  // A write of 1000 s every 500 steps of 3 s is hidden; one of 2000 s makes 500 steps last as long.
  EXPECT_NEAR(step(timed_pattern(StepPhase::Afterwards, Seconds(1000), 1.0 / 500)).step.value(), 3, 1e-9);
  auto const slow = step(timed_pattern(StepPhase::Afterwards, Seconds(2000), 1.0 / 500));
  EXPECT_NEAR(slow.step.value(), 4, 1e-9);
  EXPECT_NEAR(slow.exposed.value(), 1, 1e-9);
  EXPECT_NEAR(slow.patterns.front().hidden.value(), 3, 1e-9);
  EXPECT_NEAR(step(timed_pattern(StepPhase::Once, Seconds(10), 1.0 / 500)).step.value(), 3.02, 1e-9);
}

TEST(StorageTraffic, UsesTheNearestMemoryAndDrive) {
  auto catalogue = test::bundled();
  auto machine = catalogue.machine("hgx-h100");
  auto const gpus = machine.all(PciKind::Gpu);
  TrafficPattern pattern{"test", "", Exchange::FromHost, RankGroup::Each, Bytes(1000), 1, StepPhase::Forward};
  for (auto const& request : storage_requests(pattern, machine, gpus)) {
    auto const gpu = std::get<PciId>(request.to);
    EXPECT_EQ(request.from, Place(machine.numa_of(gpu)));
    EXPECT_EQ(storage_reach(machine, request), "socket");
  }
  pattern.exchange = Exchange::HostToDrive;
  for (auto const& request : storage_requests(pattern, machine, gpus))
    EXPECT_EQ(machine.at(std::get<PciId>(request.to)).kind, PciKind::Nvme);
  for (auto& function : machine.functions)
    if (function.kind == PciKind::Nvme) function.off = true;
  try {
    storage_requests(pattern, machine, gpus);
    ADD_FAILURE() << "a machine without drives writes to one";
  } catch (PlanError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("hgx-h100 has no drive that works"));
  }
}

// Two GPUs on a switch share its link to the host: each copy takes as long as both over that link.
TEST(StorageTraffic, IsPlannedForAllRanksOfANodeAtOnce) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto const workload = workload_of(kTraining + "  parallel: {tp: 8}\n  offload: {weights: 100 %}\n");
  auto const times = PlannedTraffic(workload, model).times(model);
  auto const weights =
      std::find_if(times.begin(), times.end(), [](auto const& t) { return t.pattern.id == "offload-weights-forward"; });
  ASSERT_NE(weights, times.end());
  EXPECT_EQ(weights->groups, 8U);
  EXPECT_EQ(weights->group_size, 1U);
  // At most Gen5 x16, 63 GB/s, for each GPU; the two sockets' memories feed four GPUs each.
  EXPECT_LT(weights->bus_bandwidth, BytesPerSecond(63e9));
  EXPECT_GT(weights->bus_bandwidth, BytesPerSecond(10e9));
}

TEST(StorageTraffic, RefusesWhatDoesNotBelongTogether) {
  auto const error = [](std::string const& lines) { return test::input_error([&] { workload_of(lines); }); };
  EXPECT_THAT(error(kTraining + "  offload: {kv: 50 %}\n"), HasSubstr("'kv' belongs to prefill and decode"));
  EXPECT_THAT(error(kTraining + "  offload: {weights: 150 %}\n"), HasSubstr("at most 100 % of the weights"));
  EXPECT_THAT(error(kTraining + "  offload: {to: nvme}\n"), HasSubstr("nothing is outside of GPU memory"));
  EXPECT_THAT(error(kTraining + "  offload: {weights: 10 %, to: disk}\n"), HasSubstr("host"));
  EXPECT_THAT(error(kTraining + "  checkpoint: {to: nvme}\n"), HasSubstr("every"));
  EXPECT_THAT(error(kDecoding + "  offload: {optimizer: true}\n"), HasSubstr("'optimizer' belongs to training"));
  EXPECT_THAT(error(kDecoding + "  checkpoint: {every: 5}\n"), HasSubstr("'checkpoint' belongs to training"));
  EXPECT_THAT(error(kDecoding + "  data: {from: nvme}\n"), HasSubstr("'data' belongs to training"));
}

}  // namespace
}  // namespace lanewise
