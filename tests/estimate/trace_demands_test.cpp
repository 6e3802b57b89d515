#include "core/estimate/trace_demands.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/estimating_executor.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using namespace literals;

struct TracedRun {
  Catalogue catalogue = test::bundled();
  Model model;
  Plan plan;
  Trace trace;

  explicit TracedRun(std::string const& machine, Detail detail = Detail::EveryStep)
      : model(catalogue.machine(machine)) {
    Collective collective;
    collective.op = CollectiveOp::AllReduce;
    collective.bytes = 64_MiB;
    for (auto const gpu : model.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
    plan = plan_collective(model, collective, detail);
    trace = test::estimated(model, plan);
    describe_demands(trace, plan, model);
  }
};

// What all steps take of a resource is what it carried.
TEST(TraceDemands, AddUpToWhatResourcesCarry) {
  for (auto const* machine : {"rtx6000pro-x8-bcm", "hgx-h100", "dgx-1-v100"}) {
    TracedRun const run(machine);
    std::map<std::string, double> taken;
    for (auto const& step : run.trace.steps) {
      ASSERT_TRUE(step.demand);
      for (auto const& [name, weight] : run.trace.demands.at(*step.demand))
        taken[name] += weight * static_cast<double>(step.bytes.value());
    }
    for (auto const& resource : run.trace.resources) {
      if (!taken.contains(resource.name)) continue;  // a limit of posted writes, which no demand has
      EXPECT_NEAR(taken[resource.name] / resource.bytes, 1, 1e-9) << machine << " " << resource.name;
    }
    EXPECT_GE(taken.size() + 2, run.trace.resources.size());
    EXPECT_LE(run.trace.demands.size(), run.trace.steps.size());
  }
}

TEST(TraceDemands, AreReadBack) {
  TracedRun const run("hgx-h100");
  EXPECT_EQ(trace_from_json(to_json(run.trace)).demands, run.trace.demands);
  EXPECT_EQ(trace_from_json(to_json(run.trace)).steps, run.trace.steps);
  auto json = to_json(run.trace);
  json["steps"][0]["demand"] = run.trace.demands.size();
  EXPECT_THAT(test::input_error([&] { trace_from_json(json); }), testing::HasSubstr("a step has demand"));
}

// A copy holds a copy engine of a GPU; a kernel that reads and adds holds none.
TEST(TraceDemands, EnginesAreNamed) {
  TracedRun const sums("rtx6000pro-x8-bcm");
  for (auto const& step : sums.trace.steps) EXPECT_THAT(step.engines, testing::IsEmpty());
  auto const& machine = sums.model.machine();
  auto const plan =
      Planner(sums.model)
          .plan({{.id = "copy", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 64_MiB}});
  auto trace = test::estimated(sums.model, plan);
  describe_demands(trace, plan, sums.model);
  EXPECT_THAT(trace.steps.at(0).engines, testing::Contains(testing::StartsWith("gpu0")));
}

TEST(TraceDemands, AFoldedPlanHasNone) {
  TracedRun const run("hgx-h100-16", Detail::Folded);
  if (run.plan.folding.empty()) GTEST_SKIP() << "not folded";
  EXPECT_TRUE(run.trace.demands.empty());
}

}  // namespace
}  // namespace lanewise
