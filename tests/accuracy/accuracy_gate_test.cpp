// The accuracy book: the model against every published measurement. docs/accuracy.md shows this commit's figures, and
// the limits below may only be tightened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.hpp"

namespace {

using lanewise::test::output_of;

std::string const kBook = std::string(LANEWISE_SOURCE_DIR) + "/docs/accuracy.md";

void check_all(nlohmann::json const& json) {
  auto const& summary = json["summary"];
  EXPECT_EQ(summary["legality_agreement"].get<double>(), 1.0);
  EXPECT_LE(summary["bandwidth"]["median_error"].get<double>(), 0.04);
  EXPECT_LE(summary["bandwidth"]["p95_error"].get<double>(), 0.25);
  EXPECT_LE(summary["latency"]["median_error"].get<double>(), 0.15);
  EXPECT_LE(summary["latency"]["p95_error"].get<double>(), 0.45);
  EXPECT_GE(summary["interval_coverage"].get<double>(), 0.85);
  EXPECT_GE(summary["bandwidth"]["points"].get<int>(), 2000);
  EXPECT_GE(summary["latency"]["points"].get<int>(), 1000);
  EXPECT_EQ(summary["unpredicted"].get<int>(), 0);
}

// Single transfers, both directions of one pair, and several at once: limits that may only be tightened.
void check_by_how_many_at_once(nlohmann::json const& json) {
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

// Collectives by libraries from 1 MiB on, without those near a change of algorithm or protocol.
void check_settled_collectives(nlohmann::json const& json) {
  std::vector<double> errors;
  std::size_t covered = 0;
  for (auto const& point : json["points"]) {
    bool const is_settled = point.contains("near_change") && !point["near_change"].get<bool>();
    if (!is_settled || !point["in_gate"].get<bool>() || point["bytes"].get<long>() < 1 << 20) continue;
    errors.push_back(point["error"].get<double>());
    covered += point["in_interval"].get<bool>() ? 1 : 0;
  }
  ASSERT_GE(errors.size(), 550U);
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[errors.size() / 2], 0.08);
  EXPECT_LE(errors[errors.size() * 95 / 100], 0.30);
  EXPECT_GE(static_cast<double>(covered), 0.85 * static_cast<double>(errors.size()));
  EXPECT_GE(json["summary"]["near_change"]["points"].get<int>(), 100);
}

// Machines whose collectives of one size among as many GPUs differ by more than a tenth, by measurement: which of the
// two is faster is what a buyer asks.
void check_order_of_machines(nlohmann::json const& json) {
  std::map<std::string, std::string> machine_of;
  for (auto const& file : json["files"]) machine_of[file["measurement"]] = file["machine"];
  struct Speed {
    double measured = 0, predicted = 0;
  };
  std::map<std::string, std::map<std::string, std::vector<Speed>>> speeds;  // by work, then by machine
  for (auto const& point : json["points"]) {
    auto const work = point["transfer"].get<std::string>();
    auto const op = work.substr(0, work.find(" among "));
    if (op == work || !point["in_gate"].get<bool>()) continue;
    bool const is_rate = point.contains("measured_GBps");
    auto const* const suffix = is_rate ? "_GBps" : "_us";
    auto const predicted = "predicted" + std::string(suffix);
    if (!point.contains(predicted) || point[predicted].is_null()) continue;
    Speed speed{point["measured" + std::string(suffix)].get<double>(), point[predicted].get<double>()};
    if (!is_rate) speed = {1 / speed.measured, 1 / speed.predicted};
    auto const key = work + " " + std::to_string(point["bytes"].get<long>()) + suffix;
    speeds[key][machine_of.at(point["measurement"])].push_back(speed);
  }
  auto const median = [](std::vector<Speed> all, double Speed::*figure) {
    std::sort(all.begin(), all.end(), [&](Speed const& a, Speed const& b) { return a.*figure < b.*figure; });
    return all[all.size() / 2].*figure;
  };
  int pairs = 0, right = 0, pairs_of_sums = 0, right_of_sums = 0;
  for (auto const& [work, machines] : speeds)
    for (auto a = machines.begin(); a != machines.end(); ++a)
      for (auto b = std::next(a); b != machines.end(); ++b) {
        auto const measured = median(a->second, &Speed::measured) / median(b->second, &Speed::measured);
        auto const predicted = median(a->second, &Speed::predicted) / median(b->second, &Speed::predicted);
        if (std::abs(std::log(measured)) <= std::log(1.1)) continue;
        bool const agrees = (measured > 1) == (predicted > 1);
        ++pairs;
        right += agrees ? 1 : 0;
        if (!work.starts_with("all_reduce ")) continue;
        ++pairs_of_sums;
        right_of_sums += agrees ? 1 : 0;
      }
  EXPECT_GE(pairs_of_sums, 80);
  EXPECT_GE(right_of_sums, 0.95 * pairs_of_sums);
  EXPECT_GE(pairs, 850);
  EXPECT_GE(right, 0.9 * pairs);
}

TEST(AccuracyGate, PublishedMeasurementsArePredictedAsWellAsPromised) {
  auto const json = nlohmann::json::parse(output_of("accuracy --json"));
  check_all(json);
  check_by_how_many_at_once(json);
  check_settled_collectives(json);
  check_order_of_machines(json);
}

TEST(AccuracyGate, TheBookShowsThisCommit) {
  auto const current = output_of("accuracy --markdown");
  if (std::getenv("LANEWISE_UPDATE_GOLDEN") != nullptr) std::ofstream(kBook) << current;
  std::ostringstream shown;
  shown << std::ifstream(kBook).rdbuf();
  EXPECT_EQ(shown.str(), current) << "LANEWISE_UPDATE_GOLDEN=1 rewrites docs/accuracy.md";
}

}  // namespace
