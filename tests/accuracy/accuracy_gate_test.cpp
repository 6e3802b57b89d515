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

TEST(AccuracyGate, TheBookShowsThisCommit) {
  auto const current = output_of("accuracy --markdown");
  if (std::getenv("LANEWISE_UPDATE_GOLDEN") != nullptr) std::ofstream(kBook) << current;
  std::ostringstream shown;
  shown << std::ifstream(kBook).rdbuf();
  EXPECT_EQ(shown.str(), current) << "LANEWISE_UPDATE_GOLDEN=1 rewrites docs/accuracy.md";
}

}  // namespace
