// The estimate and SimGrid take events of one instant in the same order, so whole plans agree, step by step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/scenario/prepared_plan.hpp"
#include "lanewise/sim/simgrid_executor.hpp"
#include "sim/simulation.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise::sim {
namespace {

using namespace literals;

Collective among_all(Model const& model, CollectiveOp op, Bytes bytes) {
  Collective collective{op, {}, bytes, Algorithm::Auto, 0};
  for (auto const gpu : model.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  return collective;
}

void expect_same_run(Model const& model, Plan const& plan) {
  auto const guess = estimate(model, plan.steps, plan.folding);
  auto const trace = SimGridExecutor(model).run(plan);
  EXPECT_NEAR(guess.makespan / trace.makespan, 1, 1e-6);
  // A step inside a long run may be off by more than the run as a whole, which hangs on its longest path only.
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    ASSERT_NEAR(guess.steps[i].end / trace.steps[i].end, 1, 1e-4) << "step " << i;
}

class Collectives : public testing::TestWithParam<char const*> {};

TEST_P(Collectives, CollectivesRunAsEstimated) {
  Model const model(test::bundled().machine(GetParam()));
  for (auto const op : {CollectiveOp::Broadcast, CollectiveOp::Reduce, CollectiveOp::AllGather,
                        CollectiveOp::ReduceScatter, CollectiveOp::AllReduce, CollectiveOp::AllToAll})
    for (auto const bytes : {512_KiB, Bytes(340'000'000 / 512 * 512), 512_MiB}) {
      auto const plan = plan_collective(model, among_all(model, op, bytes));
      SCOPED_TRACE(
          fmt::format("{} of {} bytes by {}", to_string(op), bytes.value(), to_string(plan.collective->algorithm)));
      expect_same_run(model, plan);
    }
}

// Both were off where events fell on one instant: by 3.6 % and 0.2 %.
TEST(OrderOfEvents, PlansThatOnceDifferedRunAsEstimated) {
  for (auto const& [machine, op, bytes] : {std::tuple{"a100x8-pcie-4sw", CollectiveOp::AllToAll, 512_MiB},
                                           std::tuple{"dgx-1-v100-4", CollectiveOp::AllReduce, Bytes(340'000'000)}}) {
    SCOPED_TRACE(machine);
    Model const model(test::bundled().machine(machine));
    expect_same_run(model, plan_collective(model, among_all(model, op, bytes)));
  }
}

// The sweep runs a scenario over nodes instead: its two makespans were once the furthest apart of all, by 2e-4.
TEST(OrderOfEvents, ComputingAndCollectivesRunAsEstimated) {
  auto catalogue = test::bundled();
  PlanningRequest request;
  bool const over_nodes = test::is_whole_sweep();
  auto const* scenario = over_nodes ? "training-over-nodes-needs-gpudirect" : "training-scales-with-peer-access";
  request.file = std::string(LANEWISE_SOURCE_DIR) + "/scenarios/" + scenario + ".yaml";
  request.variant = over_nodes ? "gpudirect" : "approved";
  auto const prepared = prepare_plan(
      request, catalogue, [&](auto const&, std::string const& name) { return catalogue.machine(name); },
      [](Machine&) {});
  expect_same_run(prepared.model, prepared.plan);
}

INSTANTIATE_TEST_SUITE_P(Bundled, Collectives,
                         testing::Values("a100x8-pcie-4sw", "dgx-1-v100", "hgx-h200", "rtx3090-x8", "gh200x4",
                                         "dgx-2"));

// Flows 1 and 0 end together, SimGrid finishes them in an order of its own: their successors start in the order of the
// flows.
TEST(Simulation, FlowsThatEndTogetherAreHandedOnInOrder) {
  std::vector<Flow> flows(8);
  for (std::uint32_t i = 0; i < flows.size(); ++i)
    flows[i] = {.uses = {{i, 1}}, .latency_seconds = 1e-6, .bytes = (i + 1ULL) * 100'000'000};
  std::vector<SharedLink> links;
  for (std::size_t i = 0; i < flows.size(); ++i) links.push_back({static_cast<double>(i + 1) * 0.7e9});
  std::vector<std::size_t> ended;
  simulate(links, flows,
           {[&](auto const& start) {
              for (auto i = flows.size(); i > 0; --i) start(i - 1);
            },
            [&](std::size_t flow, auto const&) { ended.push_back(flow); }});
  EXPECT_EQ(ended, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace lanewise::sim
