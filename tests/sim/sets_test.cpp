// Sets of transfers on bundled machines: the estimate agrees with SimGrid, and no run is faster than its lower bound.
#include <gtest/gtest.h>

#include <random>

#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "lanewise/sim/simgrid_executor.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise::sim {
namespace {

using namespace literals;

// Transfers between any two GPUs or host memories, of sizes from 4 KiB to 256 MiB, some waiting for earlier ones.
std::vector<Request> random_set(Machine const& machine, std::mt19937& random) {
  std::vector<Place> places;
  for (auto const gpu : machine.all(PciKind::Gpu)) places.emplace_back(gpu);
  places.emplace_back(NumaId(0));
  std::vector<Request> requests;
  auto const count = 2 + random() % 12;
  while (requests.size() < count) {
    Request request{.id = "t" + std::to_string(requests.size()),
                    .from = places[random() % places.size()],
                    .to = places[random() % places.size()],
                    .bytes = Bytes(std::int64_t{4096} << (random() % 17)),
                    .op = Op::Copy};
    if (request.from == request.to) continue;
    if (!requests.empty() && random() % 4 == 0) request.after = {random() % requests.size()};
    requests.push_back(request);
  }
  return requests;
}

class Sets : public testing::TestWithParam<char const*> {};

TEST_P(Sets, RunAsEstimatedAndNeverBelowTheBound) {
  Model const model(test::bundled().machine(GetParam()));
  Planner const planner(model);
  SimGridExecutor executor(model);
  std::mt19937 random(7);
  for (int round = 0; round < test::rounds(25, 1'000); ++round) {
    auto const plan = planner.plan(random_set(model.machine(), random));
    auto const trace = executor.run(plan);
    auto const guess = estimate(model, plan.steps);
    EXPECT_NEAR(guess.makespan / trace.makespan, 1, 1e-6) << "round " << round;
    auto const bound = lower_bound(plan, model);
    ASSERT_TRUE(bound);
    EXPECT_GT(bound->makespan, Seconds(0));
    EXPECT_LE(bound->makespan.value(), trace.makespan.value() * (1 + 1e-9)) << "round " << round;
  }
}

// Sets planned together (split, ordered, over relays) run as estimated, faster than planned one by one, never below the
// bound, and never above a capacity.
TEST_P(Sets, PlannedTogetherRunAsEstimated) {
  Model const model(test::bundled().machine(GetParam()));
  SetPlanner const planner(model);
  SimGridExecutor executor(model);
  std::mt19937 random(3);
  for (int round = 0; round < test::rounds(15, 300); ++round) {
    auto const requests = random_set(model.machine(), random);
    auto const plan = planner.plan(requests, {Objective::Makespan});
    auto const trace = executor.run(plan);
    EXPECT_NEAR(estimate(model, plan.steps).makespan / trace.makespan, 1, 1e-6) << "round " << round;
    EXPECT_LE(lower_bound(plan, model)->makespan.value(), trace.makespan.value() * (1 + 1e-9)) << "round " << round;
    EXPECT_LE(trace.makespan.value(), executor.run(planner.plan(requests, {Objective::Each})).makespan.value() * 1.001);
    for (auto const& resource : trace.resources) EXPECT_LE(resource.utilisation, 1 + 1e-6) << resource.name;
  }
}

// All 256 GPUs of 32 nodes: within nodes, between nodes, within nodes.
TEST(Scale, ALargeAllReduceRunsAsEstimated) {
  Model const model(test::bundled().machine("hgx-h100-32"));
  Collective collective{CollectiveOp::AllReduce, {}, 64_MiB, Algorithm::Auto, 0};
  for (auto const gpu : model.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  auto const plan = plan_collective(model, collective);
  EXPECT_EQ(plan.collective->algorithm, Algorithm::Hierarchical);
  auto const trace = SimGridExecutor(model).run(plan);
  EXPECT_NEAR(estimate(model, plan.steps).makespan / trace.makespan, 1, 1e-6);
  EXPECT_GE(trace.makespan, lower_bound(plan, model)->makespan);
}

INSTANTIATE_TEST_SUITE_P(Bundled, Sets,
                         testing::Values("dgx-1-v100", "dgx-1-p100", "hgx-h200", "a100x8-pcie-4sw", "rtx6000pro-x8-bcm",
                                         "rtx3090-x8", "ac922", "gh200x4", "dgx-2", "hgx-h100-4gpu"));

}  // namespace
}  // namespace lanewise::sim
