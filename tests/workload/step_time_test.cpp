#include "core/workload/step_time.hpp"

#include <gmock/gmock.h>

#include "core/workload/workload_reader.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

Workload training(Parallelism const& parallel, int micro) {
  Workload workload;
  workload.model = find_language_model("llama-3-70b");
  workload.parallel = parallel;
  workload.batch = {.global = micro * parallel.dp, .micro = 1, .sequence = 8192};
  return workload;
}

PatternTime timed(RankGroup among, Exchange exchange, StepPhase phase, Seconds each, double count) {
  return {.pattern = {"test", "", exchange, among, Bytes(1000), count, phase}, .reach = {}, .each = each};
}

TEST(StepTime, PipelineIdlesWhileItFillsAndDrains) {
  Parallelism p;
  p.pp = 4;
  // 8 micro-batches of 1 s forward and 2 s backward: 24 s, and three stages' worth of idling.
  auto const plain = compose_step(training(p, 8), {}, {Seconds(1), Seconds(2)});
  EXPECT_DOUBLE_EQ(plain.computing.value(), 24);
  EXPECT_DOUBLE_EQ(plain.idle.value(), 9);
  EXPECT_DOUBLE_EQ(plain.step.value(), 33);
  p.vpp = 2;
  EXPECT_DOUBLE_EQ(compose_step(training(p, 8), {}, {Seconds(1), Seconds(2)}).step.value(), 28.5);
}

TEST(StepTime, TensorParallelStandsInTheWay) {
  Parallelism p;
  p.tp = 8;
  auto const sums = timed(RankGroup::Tensor, Exchange::AllReduce, StepPhase::Forward, Seconds(1.0e-3), 2 * 80 * 4);
  auto const step = compose_step(training(p, 4), {sums}, {Seconds(1), Seconds(2)});
  EXPECT_NEAR(step.step.value(), 12 + 0.64, 1e-9);
  // In eight pieces behind a multiplication of 1 s / 160: only a piece of each stands alone.
  auto overlapping = training(p, 4);
  overlapping.overlap.tp = true;
  EXPECT_NEAR(compose_step(overlapping, {sums}, {Seconds(1), Seconds(2)}).step.value(), 12 + 0.08, 1e-9);
  EXPECT_NEAR(compose_step(overlapping, {sums}, {Seconds(1), Seconds(2)}).patterns.front().hidden.value(), 0.56, 1e-9);
}

TEST(StepTime, GradientsHideBehindTheLastBackwardPass) {
  Parallelism p;
  p.dp = 8;
  auto const buckets = timed(RankGroup::Replicas, Exchange::AllReduce, StepPhase::Gradients, Seconds(100.0e-3), 10);
  EXPECT_NEAR(compose_step(training(p, 1), {buckets}, {Seconds(1), Seconds(2)}).exposed.value(), 0.1,
              1e-9);  // the last one
  EXPECT_NEAR(compose_step(training(p, 1), {buckets}, {Seconds(1), Seconds(0.3)}).exposed.value(), 0.7,
              1e-9);  // 0.1 + 0.9 - 0.3
  auto alone = training(p, 1);
  alone.overlap.dp = false;
  EXPECT_NEAR(compose_step(alone, {buckets}, {Seconds(1), Seconds(2)}).exposed.value(), 1, 1e-9);
}

TEST(StepTime, ShardedWeightsHideBehindTheLayerBefore) {
  Parallelism p;
  p.dp = 8;
  p.zero = 3;
  // A layer computes 1 s / 80 = 12.5 ms; gathering takes 20 ms: 7.5 ms of each of 80 stand alone, and the first whole.
  auto const gathered = timed(RankGroup::Shards, Exchange::AllGather, StepPhase::Forward, Seconds(20.0e-3), 80);
  EXPECT_NEAR(compose_step(training(p, 1), {gathered}, {Seconds(1), Seconds(2)}).exposed.value(), 80 * 0.0075 + 0.0125,
              1e-9);
}

TEST(StepTime, PipelineMessagesDelayOnlyFillingAndDraining) {
  Parallelism p;
  p.pp = 4;
  auto const sent = timed(RankGroup::Pipeline, Exchange::NextStage, StepPhase::Forward, Seconds(10.0e-3), 8);
  EXPECT_NEAR(compose_step(training(p, 8), {sent}, {Seconds(1), Seconds(2)}).exposed.value(), 0.03, 1e-9);
  auto alone = training(p, 8);
  alone.overlap.pp = false;
  EXPECT_NEAR(compose_step(alone, {sent}, {Seconds(1), Seconds(2)}).exposed.value(), 0.08, 1e-9);
}

// All that hides behind the computing of a pass shares it.
TEST(StepTime, NothingHidesMoreThanThereIsComputing) {
  Parallelism p;
  p.tp = 8;
  auto workload = training(p, 1);
  workload.overlap.tp = true;
  auto const sums = timed(RankGroup::Tensor, Exchange::AllReduce, StepPhase::Forward, Seconds(1), 8);
  auto const step = compose_step(workload, {sums, sums}, {Seconds(2), Seconds(4)});
  EXPECT_NEAR(step.exposed.value(), 2 * 8 - 2, 1e-9);
}

TEST(StepTime, EveryStagePassesItsActivationsOnInInference) {
  auto workload = training({}, 1);
  workload.mode = WorkloadMode::Prefill;
  workload.parallel.pp = 4;
  workload.batch = {.concurrency = 1, .prompt = 1024};
  auto const sent = timed(RankGroup::Pipeline, Exchange::NextStage, StepPhase::Forward, Seconds(0.01), 1);
  EXPECT_NEAR(compose_step(workload, {sent}, {Seconds(1), Seconds(0)}).step.value(), 4.03, 1e-9);
}

TEST(StepTime, EachDecodingGpuGetsTheWholeLatent) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto workload = training({}, 1);
  workload.model = find_language_model("deepseek-v3");
  workload.mode = WorkloadMode::KvTransfer;
  workload.parallel.tp = 4;
  workload.batch = {.concurrency = 1, .prompt = 4096};
  workload.ranks = {"gpu0", "gpu1", "gpu2", "gpu3"};
  workload.decode = {"gpu4", "gpu5"};
  auto const jobs =
      jobs_of(traffic_of(workload).front(), workload, place_ranks(workload, model.machine()), model.machine());
  ASSERT_EQ(jobs.jobs.size(), 2U);
  for (auto const& job : jobs.jobs) EXPECT_EQ(std::get<Request>(job.what).bytes, Bytes(4096LL * 70272));
}

TEST(StepTime, InferencePassesAllStages) {
  auto workload = training({}, 1);
  workload.mode = WorkloadMode::Decode;
  workload.parallel.pp = 2;
  workload.batch = {.concurrency = 32, .prompt = 1024};
  auto const step = compose_step(workload, {}, {Seconds(10.0e-3), Seconds(0)});
  EXPECT_NEAR(step.step.value(), 0.02, 1e-9);
  EXPECT_NEAR(step.tokens_per_second, 2 * 32 / 0.02, 1e-6);  // two batches follow one another
}

Scenario scenario_with(std::string const& workload) {
  return read_scenario(SourceText::from_memory(
      "s.yaml", "lanewise: scenario/1\nscenario: s\nmachines: [hgx-h100]\nworkload:\n" + workload));
}

constexpr char kPrefill[] =
    "  model: llama-3-70b\n  mode: prefill\n  parallel: {tp: 8}\n  batch: {prompt: 8192}\n  compute: {mfu: 50 %}\n";

TEST(StepTime, OfAMachineIsComputingAndSums) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto const workload = *scenario_with(kPrefill).workload;
  auto const step = step_time(workload, model, model);
  // 2 x 69.5e9 parameters that multiply x 8192 tokens and attention, over eight GPUs of 989 TFLOP/s.
  auto const parameters = 70553706496.0 - 128256.0 * 8192;
  auto const work = (2 * parameters * 8192 + 4.0 * 8192 * 80 * 64 * 128 * 8192) / 8;
  EXPECT_NEAR(step.computing.value(), work / (0.5 * 989.4e12), 1e-3 * step.computing.value());
  EXPECT_NEAR(step.step.value(), step.computing.value() + step.exposed.value(), 1e-9);
  EXPECT_EQ(step.patterns.front().time.reach, "NVLink");
}

TEST(StepTime, FitGivesBackWhatItWasFittedTo) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto workload = training({}, 4);
  workload.parallel.tp = 4;
  workload.parallel.dp = 2;
  workload.parallel.zero = 1;
  workload.batch.global = 8;
  workload.compute.mfu = 0.4;
  auto const wanted = step_time(workload, model, model);
  workload.compute = {};
  workload.compute.fitted = FittedStep{wanted.step, workload.parallel, workload.batch, {}};
  auto const fitted = step_time(workload, model, model);
  EXPECT_NEAR(fitted.step.value(), wanted.step.value(), 1e-6 * wanted.step.value());
  EXPECT_NEAR(fitted.mfu, 0.4, 1e-6);
  workload.compute.fitted->step_time = Seconds(1.0e-3);
  EXPECT_THAT(test::input_error([&] { step_time(workload, model, model); }),
              HasSubstr("its communication alone takes longer"));
}

// Each GPU of a node has a NIC of its own, so that eight groups, one GPU of each node, do not slow one another.
TEST(StepTime, RailsDoNotShareNics) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100-2"));
  auto workload = training({}, 1);
  workload.parallel.tp = 8;
  workload.parallel.dp = 2;
  workload.batch.global = 2;
  workload.library = parse_library("nccl").value;
  auto const times = PlannedTraffic(workload, model).times(model);
  auto const gradients =
      std::find_if(times.begin(), times.end(), [](auto const& t) { return t.pattern.id == "dp-gradients"; });
  ASSERT_NE(gradients, times.end());
  EXPECT_EQ(gradients->groups, 8U);
  EXPECT_EQ(gradients->reach, "rail");
  std::vector<Place> pair{model.machine().place("node0/gpu5"), model.machine().place("node1/gpu5")};
  auto const alone =
      plan_by_library(model, {CollectiveOp::AllReduce, pair, gradients->pattern.bytes}, *workload.library);
  auto const time = estimate(model, alone.steps).makespan;
  EXPECT_NEAR(gradients->each.value(), time.value(), 0.02 * time.value());
}

TEST(Workload, RefusesWhatDoesNotFitTogether) {
  auto const error = [](std::string const& workload) { return test::input_error([&] { scenario_with(workload); }); };
  std::string const model = "  model: llama-3-70b\n  mode: train\n  batch: {global: 8, sequence: 4096}\n";
  EXPECT_THAT(error(model + "  parallel: {tp: 3}\n"), HasSubstr("tp 3 does not divide the 64 heads"));
  EXPECT_THAT(error(model + "  parallel: {pp: 40, vpp: 4}\n"), HasSubstr("more than the 80 layers"));
  EXPECT_THAT(error(model + "  parallel: {ep: 8}\n"), HasSubstr("has no experts"));
  EXPECT_THAT(error(model + "  parallel: {dp: 3}\n"), HasSubstr("8 sequences cannot be divided evenly"));
  EXPECT_THAT(error(model + "  parallel: {order: tp-pp}\n"), HasSubstr("is no order"));
  EXPECT_THAT(error(model + "  paralel: {tp: 2}\n"), HasSubstr("did you mean 'parallel'?"));
  EXPECT_THAT(error("  model: lama-3-70b\n  mode: train\n"), HasSubstr("did you mean 'llama-3-70b'?"));
  EXPECT_THAT(error("  model: llama-3-70b\n  mode: train\n"), HasSubstr("training needs 'global'"));
  EXPECT_THAT(error("  model: llama-3-70b\n  mode: decode\n"), HasSubstr("inference needs 'prompt'"));
  EXPECT_THAT(error(model + "  compute: {mfu: 40 %, forward: 3 ms}\n"), HasSubstr("give one"));
}

TEST(Workload, NeedsAsManyGpusAsRanks) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto workload = *scenario_with(kPrefill).workload;
  workload.parallel.dp = 2;
  EXPECT_THAT(test::input_error([&] { step_time(workload, model, model); }),
              HasSubstr("16 ranks (tp 8 x cp 1 x pp 1 x dp 2), and hgx-h100 has 8 GPUs that work"));
  workload.ranks = {"gpu0", "gpu0"};
  EXPECT_THAT(test::input_error([&] { place_ranks(workload, model.machine()); }), HasSubstr("'gpu0' has two ranks"));
}

TEST(Workload, NodesStandForTheirGpus) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("hgx-h100-2");
  auto workload = *scenario_with(kPrefill).workload;
  workload.ranks = {"node1"};
  auto const placement = place_ranks(workload, machine);
  ASSERT_EQ(placement.ranks.size(), 8U);
  EXPECT_EQ(machine.name_of(placement.ranks.front()), "node1/gpu0");
}

}  // namespace
}  // namespace lanewise
