// Computation beside transfers and collectives: dependencies, lower bounds, and makespans in closed form.
#include "lanewise/planner/jobs/job_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "core/model/resources/overheads.hpp"
#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/bounds/job_set_bound.hpp"
#include "core/planner/collectives/check.hpp"
#include "core/planner/collectives/cut_bounds.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/server.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Model const& server() {
  static Model const model(test::machine_of({.more_gpu = "copy_engines: 2, fp32_rate: 20 TFLOP/s",
                                             .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 4}"}));
  return model;
}

Place at(std::string const& name) { return server().machine().place(name); }
std::vector<Place> gpus(std::initializer_list<char const*> names) {
  std::vector<Place> places;
  for (auto const* name : names) places.push_back(at(name));
  return places;
}
Collective all_reduce(std::vector<Place> among) { return {CollectiveOp::AllReduce, std::move(among), 16_MiB}; }
Request copy(std::string const& from, std::string const& to) {
  return {.from = at(from), .to = at(to), .bytes = 64_MiB};
}
Compute computing(std::vector<Place> on, Seconds time) { return {std::move(on), time}; }

Plan plan_of(std::vector<Job> jobs) { return plan_job_set(server(), {std::move(jobs)}, {Objective::Makespan}); }
std::vector<Step> steps_of(Plan const& plan, std::string const& id) {
  std::vector<Step> steps;
  for (auto const& step : plan.steps)
    if (step.transfer == id) steps.push_back(step);
  return steps;
}
Seconds makespan(Plan const& plan) { return estimate(server(), plan.steps).makespan; }

TEST(ComputeTime, FollowsTheRoofline) {
  Compute compute{{}, Seconds(0), Flop(2e12), Precision::Fp32, Bytes(0)};
  EXPECT_NEAR(compute_time(server(), compute, at("gpu0")).value(), 2e12 / 20e12, 1e-12);
  compute.bytes = 1000_GB;  // takes longer than the operations
  auto const memory = server().resources().device_memory(*server().machine().find_function("gpu0"));
  EXPECT_NEAR(compute_time(server(), compute, at("gpu0")).value(), 1e12 / server().capacity(memory)->value(), 1e-9);
  compute.time = Seconds(3);
  EXPECT_EQ(compute_time(server(), compute, at("gpu0")), Seconds(3));
}

TEST(ComputeTime, SaysWhichFigureIsMissing) {
  Compute const compute{{}, Seconds(0), Flop(2e12), Precision::Fp16, Bytes(0)};
  try {
    static_cast<void>(compute_time(server(), compute, at("gpu0")));
    FAIL() << "the fp16 rate is not in the part";
  } catch (PlanError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("fp16"));
  }
  EXPECT_THROW(static_cast<void>(compute_time(server(), compute, at("numa0"))), PlanError);
}

TEST(PlanJobSet, ComputesOneJobAtATimeOnAGpu) {
  auto const plan =
      plan_of({{"a", computing(gpus({"gpu0", "gpu1"}), 2.0_us), {}}, {"b", computing(gpus({"gpu0"}), 3.0_us), {}}});
  EXPECT_NEAR(makespan(plan).value(), 5e-6, 1e-12);
  EXPECT_NEAR(job_set_bound(plan, server())->makespan.value(), 5e-6, 1e-12);
}

TEST(PlanJobSet, OverlapsComputingWithTransfers) {
  auto const alone =
      makespan(plan_of({{"copy", copy("gpu0", "gpu2"), {}}, {"a", computing(gpus({"gpu0"}), 1.0_us), {}}}));
  auto const both =
      makespan(plan_of({{"copy", copy("gpu0", "gpu2"), {}}, {"a", computing(gpus({"gpu0"}), alone), {}}}));
  EXPECT_NEAR(both.value(), alone.value(), 1e-9);
}

// A kernel waits only for the steps of its own GPU.
TEST(PlanJobSet, WaitsPlaceByPlace) {
  auto const plan = plan_of({{"first", computing(gpus({"gpu0", "gpu2"}), 5.0_us), {}},
                             {"sum", all_reduce(gpus({"gpu0", "gpu1"})), {0}},
                             {"second", computing(gpus({"gpu0", "gpu1", "gpu2"}), 5.0_us), {1}}});
  auto const first = steps_of(plan, "first");
  auto const second = steps_of(plan, "second");
  ASSERT_THAT(second, SizeIs(3));
  for (auto const id : second[0].after) {
    auto const& before = plan.steps[index(id)];
    EXPECT_EQ(before.transfer, "sum");
    EXPECT_TRUE(before.from == at("gpu0") || before.to == at("gpu0"));
  }
  // gpu2 takes no part in the sum, so it waits for all of it.
  EXPECT_FALSE(second[2].after.empty());
  // The sum's steps at gpu0 and gpu1 wait for gpu0's work, and for nothing of gpu2's.
  for (auto const& step : steps_of(plan, "sum"))
    for (auto const id : step.after) EXPECT_NE(plan.steps[index(id)].from, at("gpu2"));
}

TEST(PlanJobSet, MakesACollectiveWaitForEveryParticipant) {
  auto const plan = plan_of({{"short", computing(gpus({"gpu0"}), 1.0_us), {}},
                             {"long", computing(gpus({"gpu1"}), 400.0_us), {}},
                             {"sum", all_reduce(gpus({"gpu0", "gpu1"})), {0, 1}}});
  auto const run = estimate(server(), plan.steps);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].transfer != "sum") continue;
    EXPECT_GE(run.steps[i].start, 400.0_us);
  }
}

TEST(PlanJobSet, OrdersTransfersThroughComputing) {
  auto const plan = plan_of({{"in", copy("numa0", "gpu0"), {}},
                             {"work", computing(gpus({"gpu0"}), 10.0_us), {0}},
                             {"out", copy("gpu0", "numa0"), {1}}});
  auto const run = estimate(server(), plan.steps);
  auto const alone = [&](std::size_t decision) {
    auto const& d = plan.decisions[decision];
    return *d.candidates[d.chosen].time;
  };
  EXPECT_NEAR(run.makespan.value(), (alone(0) + 10.0_us + overheads::kEngineChange + alone(1)).value(), 1e-7);
  auto const bound = job_set_bound(plan, server())->makespan;
  EXPECT_LE(bound, run.makespan);
  EXPECT_GE(bound, run.makespan * 0.998);  // the bound leaves out some latencies
}

TEST(PlanJobSet, DeliversEveryContribution) {
  auto const plan = plan_of({{"first", all_reduce(gpus({"gpu0", "gpu1", "gpu2", "gpu3"})), {}},
                             {"work", computing(gpus({"gpu0", "gpu1"}), 10.0_us), {0}},
                             {"second", all_reduce(gpus({"gpu2", "gpu1", "gpu0"})), {1}}});
  EXPECT_THAT(plan.collectives, SizeIs(2));
  EXPECT_FALSE(fault_of(plan)) << *fault_of(plan);
  auto broken = plan;
  broken.steps.pop_back();
  EXPECT_THAT(fault_of(broken).value_or(""), HasSubstr("second"));
}

TEST(PlanJobSet, IsReadBackFromItsJson) {
  auto const plan = plan_of({{"sum", all_reduce(gpus({"gpu0", "gpu1"})), {}},
                             {"work", computing(gpus({"gpu0"}), 10.0_us), {0}},
                             {"out", copy("gpu0", "numa0"), {1}}});
  EXPECT_EQ(plan_from_json(to_json(plan, server().machine()), server().machine()), plan);
}

// Random job sets on two machines: no estimate is below the lower bound, all contributions arrive, and every step
// begins after the steps that it waits for.
TEST(PlanJobSet, HoldsForRandomJobSets) {
  auto catalogue = test::bundled();
  std::mt19937 random(7);
  for (auto const* name : {"dgx-1-v100", "a100x8-pcie-4sw"}) {
    Model const model(catalogue.machine(name));
    auto const all = model.machine().all(PciKind::Gpu);
    for (int trial = 0; trial < test::rounds(6, 200); ++trial) {
      JobSet job_set;
      auto const some = [&] {
        std::vector<Place> places;
        for (auto const gpu : all)
          if (random() % 2 == 0 || places.size() < 2) places.emplace_back(gpu);
        return places;
      };
      for (std::size_t j = 0; j < 6; ++j) {
        auto& job = job_set.jobs.emplace_back(Job{"j" + std::to_string(j), Request{}, {}});
        auto const kind = random() % 3;
        if (kind == 0) job.what = computing(some(), Seconds(1e-6 * static_cast<double>(1 + random() % 500)));
        if (kind == 1)
          job.what = Collective{random() % 2 == 0 ? CollectiveOp::AllReduce : CollectiveOp::AllGather, some(), 4_MiB};
        auto const places = some();
        if (kind == 2) job.what = Request{.from = places[0], .to = places[1], .bytes = 8_MiB};
        for (std::size_t before = 0; before < j; ++before)
          if (random() % 3 == 0) job.after.push_back(before);
      }
      auto const plan = plan_job_set(model, job_set, {Objective::Makespan});
      auto const run = estimate(model, plan.steps);
      if (auto const bound = lower_bound(plan, model)) {
        EXPECT_GE(run.makespan.value(), bound->makespan.value() * (1 - 1e-9));
      }
      if (!plan.collectives.empty()) {
        EXPECT_FALSE(fault_of(plan)) << *fault_of(plan);
      }
      for (std::size_t i = 0; i < plan.steps.size(); ++i)
        for (auto const before : plan.steps[i].after)
          EXPECT_LE(run.steps[index(before)].end, run.steps[i].start + 1.0_ns);
    }
  }
}

TEST(JobSetPlanner, PlansAgainWhatAFreshPlannerPlans) {
  auto const sum = all_reduce(gpus({"gpu0", "gpu1", "gpu2", "gpu3"}));
  JobSet job_set{{{"work", computing(gpus({"gpu0", "gpu1"}), 10.0_us), {}},
                  {"first", sum, {0}},
                  {"copy", copy("gpu2", "gpu3"), {}},
                  {"second", sum, {1}}}};
  Aim const aim{Objective::Makespan};
  CollectivePlanner collectives(server(), Keep::All);
  JobSetPlanner planner(collectives, job_set, aim);
  EXPECT_EQ(planner.plan(), plan_job_set(server(), job_set, aim));
  for (auto const& other : plans_of_collective(server(), sum)) {
    auto const plan = planner.plan_with("second", *other.collective);
    job_set.jobs.back().what = *other.collective;
    EXPECT_EQ(plan, plan_job_set(server(), job_set, aim)) << to_string(other.collective->algorithm);
    EXPECT_EQ(plan.collectives.back().collective, *other.collective);
  }
}

TEST(JobSetBound, AddsGradientsThatNoComputationHides) {
  auto const sum = all_reduce(gpus({"gpu0", "gpu1", "gpu2", "gpu3"}));
  auto const plan =
      plan_of({{"back", computing(gpus({"gpu0", "gpu1", "gpu2", "gpu3"}), 500.0_us), {}}, {"sum", sum, {0}}});
  auto const bound = job_set_bound(plan, server()).value();
  Seconds widest{0};  // the closed form
  for (auto const& cut : cut_bounds(sum, server())) widest = std::max(widest, cut.time);
  EXPECT_NEAR(bound.makespan.value(), 500e-6 + widest.value(), 1e-9);
  EXPECT_LE(bound.makespan, 500.0_us + collective_bound(sum, server())->makespan);
  EXPECT_GE(makespan(plan), bound.makespan);
}

}  // namespace
}  // namespace lanewise
