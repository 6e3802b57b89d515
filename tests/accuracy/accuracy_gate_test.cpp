// The accuracy book: the model against every published measurement. docs/accuracy.md shows this commit's figures, and
// the limits below may only be tightened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.hpp"

namespace {

using lanewise::test::output_of;

std::string const kBook = std::string(LANEWISE_SOURCE_DIR) + "/docs/accuracy.md";

TEST(AccuracyGate, PublishedMeasurementsArePredictedAsWellAsPromised) {
  auto const json = nlohmann::json::parse(output_of("accuracy --json"));
  auto const& summary = json["summary"];
  EXPECT_EQ(summary["legality_agreement"].get<double>(), 1.0);
  EXPECT_LE(summary["bandwidth"]["median_error"].get<double>(), 0.04);
  EXPECT_LE(summary["bandwidth"]["p95_error"].get<double>(), 0.25);
  EXPECT_LE(summary["latency"]["median_error"].get<double>(), 0.20);
  EXPECT_GE(summary["interval_coverage"].get<double>(), 0.85);
  EXPECT_GE(summary["bandwidth"]["points"].get<int>(), 2000);
  EXPECT_GE(summary["latency"]["points"].get<int>(), 1000);
  EXPECT_EQ(summary["unpredicted"].get<int>(), 0);
}

// Single transfers, both directions of one pair, and several at once: limits that may only be tightened.
TEST(AccuracyGate, SeveralAtOnceHaveLimitsOfTheirOwn) {
  auto const json = nlohmann::json::parse(output_of("accuracy --json"));
  struct Limit {
    std::string at_once;
    int points;
    double median, p95, coverage;
  };
  std::size_t i = 0;
  for (auto const& [at_once, points, median, p95, coverage] :
       {Limit{"one", 1300, 0.04, 0.17, 0.9}, Limit{"both ways", 650, 0.05, 0.38, 0.9},
        Limit{"several", 95, 0.04, 0.2, 0.88}, Limit{"collective", 800, 0.1, 0.35, 0.85}}) {
    auto const& found = json["at_once"][i++];
    SCOPED_TRACE(at_once);
    EXPECT_EQ(found["at_once"], at_once);
    EXPECT_GE(found["times"]["points"].get<int>(), points);
    EXPECT_LE(found["times"]["median_error"].get<double>(), median);
    EXPECT_LE(found["times"]["p95_error"].get<double>(), p95);
    EXPECT_GE(found["interval_coverage"].get<double>(), coverage);
  }
  EXPECT_EQ(i, json["at_once"].size());
  EXPECT_EQ(json["classes"][0]["generation"], "before Ampere");
}

TEST(AccuracyGate, TheBookShowsThisCommit) {
  auto const current = output_of("accuracy --markdown");
  if (std::getenv("LANEWISE_UPDATE_GOLDEN") != nullptr) std::ofstream(kBook) << current;
  std::ostringstream shown;
  shown << std::ifstream(kBook).rdbuf();
  EXPECT_EQ(shown.str(), current) << "LANEWISE_UPDATE_GOLDEN=1 rewrites docs/accuracy.md";
}

}  // namespace
