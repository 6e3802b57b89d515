// The checker finds what is broken in a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/planner/collectives/check.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/planner/collectives/collective_cases.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::among;
using test::bundled;
using ::testing::HasSubstr;

Plan all_reduce(Algorithm algorithm) {
  static Model const model(bundled("hgx-h200"));
  return plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 4, 1_MiB, algorithm));
}

TEST(FaultOf, FindsAMissingStep) {
  auto plan = all_reduce(Algorithm::Ring);
  plan.steps.pop_back();
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("contributions"));
}

TEST(FaultOf, FindsAContributionThatCountsTwice) {
  auto plan = all_reduce(Algorithm::Direct);
  auto again = plan.steps.front();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) again.after.push_back(StepId(i));
  plan.steps.push_back(again);
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("contributions"));
}

TEST(FaultOf, FindsStepsInNoOrder) {
  auto plan = all_reduce(Algorithm::HalvingDoubling);
  plan.steps.back().after.clear();
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("in no order"));
}

TEST(FaultOf, FindsABlockAtAnothersPlace) {
  static Model const model(bundled("hgx-h200"));
  auto collective = among(model.machine(), CollectiveOp::AllToAllV, 2, Bytes(0));
  collective.sizes = {{32_B, 48_B}, {64_B, 16_B}};
  auto plan = plan_collective(model, collective);
  EXPECT_FALSE(fault_of(plan));
  for (auto& step : plan.steps)
    if (step.bytes == 48_B) step.reads->offset = Bytes(16);
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("participant 1"));
}

}  // namespace
}  // namespace lanewise
