// Collectives among host memories: what a core's sum takes, and what no plan beats.
#include <gtest/gtest.h>

#include "core/estimate/demands.hpp"
#include "core/model/lowering/path_builder.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/estimating_executor.hpp"

namespace lanewise {
namespace {

using namespace literals;

struct Hosts {
  Catalogue catalogue = test::bundled();
  Model model{catalogue.machine("soft-roce-3")};

  [[nodiscard]] Plan plan(CollectiveOp op, Bytes bytes) const {
    Collective collective;
    collective.op = op;
    collective.bytes = bytes;
    for (auto const* name : {"node0/numa0", "node1/numa0", "node2/numa0"})
      collective.among.push_back(model.machine().place(name));
    return plan_collective(model, collective, Detail::EveryStep);
  }
};

// Two bytes are read and one is written for each that is added; a copy reads one and writes one.
TEST(HostSums, TakeHalfAsLongAgainAsACopyByOneCore) {
  Hosts const hosts;
  auto const plan = hosts.plan(CollectiveOp::ReduceScatter, 3_MiB);
  for (auto step : plan.steps) {
    if (!step.reduces) continue;
    auto const sum = demand_of(hosts.model, step);
    step.reduces = false;
    auto const copy = demand_of(hosts.model, step);
    auto const core = core_copy(hosts.model.machine(), std::get<NumaId>(step.to));
    EXPECT_NEAR((sum.path - copy.path) / (step.bytes / core), 1.5, 1e-9);
  }
}

// A core that adds what another memory of its host holds needs no second pass.
TEST(HostSums, WithinAHostRunAtTwoThirdsOfACopy) {
  Hosts const hosts;
  auto const memory = hosts.model.machine().place("node0/numa0");
  Step step{.transfer = "sum",
            .from = memory,
            .to = memory,
            .bytes = 1_MiB,
            .way = {.mechanism = Mechanism::Local},
            .after = {}};
  auto const copy = demand_of(hosts.model, step);
  step.reads = Region{};
  step.writes = Region{};
  step.reduces = true;
  auto const sum = demand_of(hosts.model, step);
  EXPECT_NEAR(sum.cap / copy.cap, 2.0 / 3.0, 1e-9);
  EXPECT_EQ(sum.path, copy.path);
}

// Two of three parts pass each host's port; sums and latencies come on top.
TEST(HostCollectives, AreBoundByTheNics) {
  Hosts const hosts;
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::AllToAll, CollectiveOp::AllReduce}) {
    auto const plan = hosts.plan(op, 3_MiB);
    auto const bound = lower_bound(plan, hosts.model);
    ASSERT_TRUE(bound) << to_string(op);
    auto const found = test::estimated(hosts.model, plan).makespan;
    EXPECT_LE(bound->makespan, found) << to_string(op);
    EXPECT_LT(found / bound->makespan, op == CollectiveOp::AllReduce ? 1.25 : 1.02) << to_string(op);
  }
}

}  // namespace
}  // namespace lanewise
