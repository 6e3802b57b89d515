// What is chosen for collectives on many machines: SimGrid takes as long as the planner's estimate, with which
// algorithms are compared, and no less than the bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/planner/bounds/collective_bound.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/sim/simgrid_executor.hpp"
#include "tests/planner/collectives/collective_cases.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise::sim {
namespace {

using namespace literals;

class ChosenCollectives : public testing::TestWithParam<char const*> {};

TEST_P(ChosenCollectives, RunAsEstimatedAndNeverBelowTheBound) {
  Model const model(test::bundled(GetParam()));
  SimGridExecutor executor(model);
  auto const count = std::min<std::size_t>(model.machine().all(PciKind::Gpu).size(), 8);
  for (auto const op :
       {CollectiveOp::Broadcast, CollectiveOp::Scatter, CollectiveOp::Gather, CollectiveOp::AllGather,
        CollectiveOp::ReduceScatter, CollectiveOp::Reduce, CollectiveOp::AllReduce, CollectiveOp::AllToAll})
    for (auto const bytes : {64_KiB, 16_MiB, 1_GiB}) {
      if (!test::is_whole_sweep() && bytes == 1_GiB) continue;
      auto const collective = test::among(model.machine(), op, count, bytes);
      auto const plan = plan_collective(model, collective);
      auto const trace = executor.run(plan);
      EXPECT_NEAR(estimate(model, plan.steps).makespan / trace.makespan, 1, 1e-6)
          << to_string(op) << " of " << bytes.value() << " B by " << to_string(plan.collective->algorithm);
      if (auto const bound = collective_bound(collective, model)) {
        EXPECT_GE(trace.makespan.value(), bound->makespan.value() * (1 - 1e-9)) << to_string(op);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Machines, ChosenCollectives,
                         testing::Values("mi300x-x8", "rtx6000pro-x8-bcm", "a100x8-pcie-4sw", "dgx-1-v100", "hgx-h100",
                                         "epyc-mi60-x8", "gh200x4", "h100-pcie-x8", "rtx6000pro-x8-genoa",
                                         "a100x4-pcie-dual-socket", "l40s-x8", "rtx3090-x8"));

}  // namespace
}  // namespace lanewise::sim
