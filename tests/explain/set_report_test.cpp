// Standard sets held against their bounds and simple algorithms, with an executor whose times are the planner's
// estimates.
#include "core/explain/set_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/set_report_text.hpp"
#include "tests/support/estimating_executor.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::HasSubstr;

std::vector<SetResult> results_of(Model const& model) {
  return evaluate_sets(model, 16_MiB, Effort::Full,
                       [](Model const& m) { return std::make_unique<EstimatingExecutor>(m); });
}

TEST(SetReport, HoldsEverySetAgainstBoundAndSimpleAlgorithms) {
  Model const model(test::machine_of({}));
  auto const gpus = model.machine().all(PciKind::Gpu).size();
  auto const results = results_of(model);
  std::vector<std::string> names;
  for (auto const& result : results) {
    names.push_back(result.set);
    constexpr double kRounding = 1e-9;
    EXPECT_GE(result.gap(), -kRounding) << result.set;
    EXPECT_GE(result.gain(), 1 - kRounding) << result.set;  // the plan is never worse than all at once
    EXPECT_GE(result.at_once, result.simple) << result.set;
    EXPECT_LE(result.regret(), 0.02) << result.set << " by " << result.algorithm;
  }
  EXPECT_THAT(names, testing::ElementsAre("all-to-all", "skewed all-to-all", "incast", "shift", "far shift",
                                          "permutation", "all-gather"));
  EXPECT_EQ(results[0].transfers, gpus * (gpus - 1));
  EXPECT_EQ(results[2].transfers, gpus - 1);
}

TEST(SetReport, SaysTheSameAsTextAndAsJson) {
  Model const model(test::machine_of({}));
  auto const results = results_of(model);
  auto const json = set_report_json(results);
  EXPECT_EQ(json["lanewise"], "set_report/1");
  EXPECT_EQ(json["sets"].size(), results.size());
  EXPECT_EQ(json["summary"]["sets"], results.size());
  EXPECT_THAT(set_report_text(results), HasSubstr(results[0].algorithm));
  EXPECT_THAT(set_report_markdown(results), HasSubstr("| " + model.machine().name + " | "));
}

TEST(SetReport, OfNoTwoGpusIsEmpty) {
  EXPECT_THAT(set_report_text({}), HasSubstr("no two GPUs"));
  EXPECT_TRUE(set_report_json({})["sets"].empty());
}

}  // namespace
}  // namespace lanewise
