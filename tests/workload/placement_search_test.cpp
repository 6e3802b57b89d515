#include "core/workload/placement_search.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/view/workload_text.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Workload workload_with(std::string const& parallel, std::string const& compute = "{forward: 100 ms}") {
  return *read_scenario(
              SourceText::from_memory(
                  "s.yaml",
                  "lanewise: scenario/1\nscenario: s\nmachines: [hgx-h100-2]\nworkload:\n"
                  "  model: llama-3.1-8b\n  mode: train\n  batch: {global: 16, sequence: 4096}\n  parallel: " +
                      parallel + "\n  compute: " + compute + "\n"))
              .workload;
}

TEST(PlacementSearch, TriesWhatDividesTheWork) {
  EXPECT_THAT(distinct_orders(workload_with("{tp: 2, pp: 4, dp: 2}").parallel),
              ElementsAre("tp-dp-pp", "tp-pp-dp", "dp-tp-pp", "dp-pp-tp", "pp-tp-dp", "pp-dp-tp"));
  EXPECT_THAT(distinct_orders(workload_with("{tp: 2, dp: 8, order: dp-tp-cp-ep-pp}").parallel),
              ElementsAre("dp-tp", "tp-dp"));
  EXPECT_THAT(distinct_orders({}), ElementsAre(""));
  EXPECT_EQ(full_order("pp-tp"), "pp-tp-cp-ep-dp");
  EXPECT_EQ(full_order(""), Parallelism{}.order);
}

// Two nodes of eight GPUs: 8 stages in a node and tensor parallel between them would be the worst.
TEST(PlacementSearch, TakesTheShortestOfAllSteps) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100-2"));
  auto const step = step_time(workload_with("{tp: 2, pp: 8, order: search}"), model, model);
  ASSERT_TRUE(step.searched);
  EXPECT_EQ(step.searched->tried, 2U);
  auto const inside = step_time(workload_with("{tp: 2, pp: 8}"), model, model).step;
  auto const between = step_time(workload_with("{tp: 2, pp: 8, order: pp-tp-cp-ep-dp}"), model, model).step;
  EXPECT_LT(inside, between);
  EXPECT_EQ(step.searched->order, "tp-pp");
  EXPECT_DOUBLE_EQ(step.step.value(), inside.value());
  EXPECT_DOUBLE_EQ(step.searched->step.value(), inside.value());
  EXPECT_DOUBLE_EQ(step.searched->step_as_default.value().value(), inside.value());
}

// Stages that are neighbours send over NVLink, and buckets of gradients hide behind computing on either way.
TEST(PlacementSearch, LeavesTheDefaultWhereAnotherIsFaster) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100-2"));
  auto workload = workload_with("{pp: 2, dp: 8, order: search}");
  auto const step = step_time(workload, model, model);
  ASSERT_TRUE(step.searched);
  workload.parallel.search_order = false;
  auto shortest = step_time(workload, model, model).step;
  workload.parallel.order = full_order("pp-dp");
  shortest = std::min(shortest, step_time(workload, model, model).step);
  EXPECT_DOUBLE_EQ(step.step.value(), shortest.value());
  EXPECT_THAT(step_text(workload, step, "hgx-h100-2", "best"),
              HasSubstr("order pp-dp, the fastest of 2 by estimate; dp-pp would take 902"));
  auto const json = step_json(workload, step);
  EXPECT_EQ(json["order"]["taken"], "pp-dp");
  EXPECT_EQ(json["order"]["tried"], 2);
}

TEST(PlacementSearch, LeavesAMeasuredStepInItsOrder) {
  auto const workload = workload_with("{tp: 2, dp: 8, order: search}", "{fitted: {step_time: 9 s, parallel: {dp: 4}}}");
  EXPECT_TRUE(workload.parallel.search_order);
  EXPECT_FALSE(workload.compute.fitted->parallel.search_order);
  EXPECT_EQ(workload.compute.fitted->parallel.order, Parallelism{}.order);
  auto const named = workload_with("{tp: 2, dp: 8, order: search}",
                                   "{fitted: {step_time: 9 s, parallel: {dp: 4, order: dp-tp-cp-ep-pp}}}");
  EXPECT_EQ(named.compute.fitted->parallel.order, "dp-tp-cp-ep-pp");
  EXPECT_THAT(test::input_error(
                  [] { workload_with("{tp: 2, dp: 8}", "{fitted: {step_time: 9 s, parallel: {order: search}}}"); }),
              HasSubstr("a measured one ran in some order"));
  EXPECT_THAT(test::input_error([] { workload_with("{order: best}"); }),
              HasSubstr("each once, with '-' between, or search"));
}

}  // namespace
}  // namespace lanewise
