#include "core/estimate/step_kinds.hpp"

#include <gtest/gtest.h>

#include "core/estimate/demands.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;

Plan plan_among_all(Model const& model, CollectiveOp op) {
  Collective collective;
  collective.op = op;
  collective.bytes = 64_MiB;
  for (auto const gpu : model.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  return plan_collective(model, collective, Detail::EveryStep);
}

void expect_same_demands(Model const& model, Plan const& plan) {
  std::vector<Step> steps = plan.steps;
  for (auto& step : steps) {  // so that nothing but the step counts
    step.after.clear();
    step.order_only.clear();
    step.reads.reset();
    step.writes.reset();
  }
  auto const together = demands_of(model, steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto const alone = demand_of(model, steps[i]);
    ASSERT_TRUE(std::equal(alone.uses.begin(), alone.uses.end(), together[i].uses.begin(), together[i].uses.end()));
    ASSERT_EQ(alone.engines, together[i].engines);
    ASSERT_EQ(alone.start, together[i].start);
    ASSERT_EQ(alone.path, together[i].path);
    ASSERT_EQ(alone.busy, together[i].busy);
    // Rings of chunks are slower while other engines are busy.
    bool const is_ring =
        steps[i].way.mechanism == Mechanism::HostStaged || steps[i].way.mechanism == Mechanism::NvlinkRelay;
    if (!is_ring) {
      ASSERT_EQ(alone.cap, together[i].cap);
    }
    ASSERT_EQ(alone.chunk, together[i].chunk);
  }
}

TEST(StepKinds, StepsOfOneKindHaveTheDemandsThatEachHasByItself) {
  for (auto const* name : {"dgx-1-v100-4", "gh200x4-2", "hgx-h100-2", "hgx-h100"}) {
    Model const model(test::bundled().machine(name));
    for (auto const op : {CollectiveOp::AllToAll, CollectiveOp::AllReduce, CollectiveOp::AllGather})
      expect_same_demands(model, plan_among_all(model, op));
  }
}

TEST(StepKinds, AnAllToAllAmong256HasSomeHundred) {
  Model const model(test::bundled().machine("hgx-h100-32"));
  auto const plan = plan_among_all(model, CollectiveOp::AllToAll);
  StepKinds kinds(model);
  std::size_t count = 0;
  for (auto const& step : plan.steps) count += kinds.is_known(step) ? 0 : 1;
  EXPECT_GE(plan.steps.size(), 65'280U);
  EXPECT_LE(count, 200U);
}

TEST(StepKinds, AComputationIsOfNoKind) {
  Model const model(test::bundled().machine("hgx-h100-2"));
  Step step;
  step.from = step.to = Place(model.machine().all(PciKind::Gpu).front());
  step.work = Seconds(1e-3);
  EXPECT_FALSE(StepKinds(model).of(step));
}

}  // namespace
}  // namespace lanewise
