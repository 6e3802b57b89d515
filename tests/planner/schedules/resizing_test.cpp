// Sizes of segments against the linear program that they approach, and the longest paths on which they depend.
#include "core/planner/schedules/resizing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/estimate/demands.hpp"
#include "core/planner/schedules/configuration_program.hpp"
#include "core/planner/schedules/critical_paths.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::ElementsAre;

std::vector<Step> steps_that_wait_for(std::vector<std::vector<std::size_t>> const& before) {
  std::vector<Step> steps(before.size());
  for (std::size_t k = 0; k < before.size(); ++k)
    for (auto const other : before[k]) steps[k].order_only.push_back(StepId(other));
  return steps;
}

// 0 and 1 at once, then 2 after both, 3 after 1.
TEST(CriticalPaths, AreWhatTheMakespanGrowsBy) {
  CriticalPaths paths(steps_that_wait_for({{}, {}, {0, 1}, {1}}));
  EXPECT_EQ(paths.makespan(std::vector<double>{4, 2, 3, 1}), 7);
  EXPECT_THAT(std::vector<double>(paths.criticality(0.1).begin(), paths.criticality(0.1).end()),
              ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(paths.makespan(std::vector<double>{2, 2, 3, 3}), 5);
  // Half of the paths end with 3, and of those that end with 2 half begin with 0.
  EXPECT_THAT(std::vector<double>(paths.criticality(0.1).begin(), paths.criticality(0.1).end()),
              ElementsAre(0.25, 0.75, 0.5, 0.5));
}

TEST(CriticalPaths, CountThoseAlmostAsLong) {
  CriticalPaths paths(steps_that_wait_for({{}, {}}));
  paths.makespan(std::vector<double>{10, 9});
  EXPECT_EQ(paths.criticality(1)[1], 0);
  EXPECT_NEAR(paths.criticality(2)[1], 0.25 / 1.25, 1e-12);
}

// What a round of resizing starts from: times of segments as they ran.
struct Timed {
  std::vector<double> bytes, durations, time_per_byte;
};

Timed timed(Evaluation const& evaluation, Model const& model) {
  Timed timed;
  auto const demands = demands_of(model, evaluation.steps);
  for (std::size_t k = 0; k < evaluation.steps.size(); ++k) {
    auto const& times = evaluation.run.steps[k];
    timed.bytes.push_back(static_cast<double>(evaluation.steps[k].bytes.value()));
    timed.durations.push_back((times.end - times.start).value());
    timed.time_per_byte.push_back((timed.durations[k] - demands[k].latency().value()) / timed.bytes[k]);
  }
  return timed;
}

// The least makespan at those rates, in seconds. Columns, in megabytes and milliseconds: the end of all, then for each
// segment its start, bytes added and bytes removed. Rows: the change of each transfer's bytes (0), then start of a
// segment >= end of one that it waits for, then end of all >= end of each.
double least_makespan(Timed const& times, Evaluation const& evaluation, std::size_t transfers, double max_change) {
  LinearProgram program;
  for (std::size_t i = 0; i < transfers; ++i) program.add_row({0, 0});
  auto const count = times.bytes.size();
  std::vector<std::vector<int>> start_rows(count);
  std::vector<std::vector<int>> end_rows(count);
  auto const duration = [&](std::size_t k) { return times.durations[k] / kMillisecond; };
  for (std::size_t k = 0; k < count; ++k)
    for (auto const id : evaluation.steps[k].order_only) {
      start_rows[k].push_back(program.add_row({.lower = duration(index(id))}));
      end_rows[index(id)].push_back(start_rows[k].back());
    }
  for (std::size_t k = 0; k < count; ++k) {
    end_rows[k].push_back(program.add_row({.lower = duration(k)}));
    program.entries.push_back({end_rows[k].back(), 1});
  }
  program.end_column(1);
  for (std::size_t k = 0; k < count; ++k) {
    for (auto const row : start_rows[k]) program.entries.push_back({row, 1});
    for (auto const row : end_rows[k]) program.entries.push_back({row, -1});
    program.end_column(0);
    for (auto const sign : {1.0, -1.0}) {
      program.entries.push_back({static_cast<int>(evaluation.origins[k].transfer), sign});
      for (auto const row : end_rows[k])
        program.entries.push_back({row, -sign * times.time_per_byte[k] * kMegabyte / kMillisecond});
      program.end_column(0, max_change * times.bytes[k] / kMegabyte);
    }
  }
  return solve(program)->x[0] * kMillisecond;
}

// Schedules of 56 transfers of which each is bound by its longest paths all over: four of a machine with PCIe switches,
// four of a mesh of NVLink.
TEST(Resizing, ApproachesTheOptimum) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  double gained = 0;
  double possible = 0;
  for (auto const* name : {"a100x8-pcie-4sw", "dgx-1-v100"}) {
    Model const model(test::bundled().machine(name));
    std::vector<Request> requests;
    for (auto const from : model.machine().all(PciKind::Gpu))
      for (auto const to : model.machine().all(PciKind::Gpu))
        if (from != to) requests.push_back({.id = "t", .from = from, .to = to, .bytes = 64_MiB});
    auto const set = transfer_set(Planner(model).plan(requests), model);
    SegmentEvaluator const evaluator(set, model);
    auto const schedules = ConfigurationProgram(set, model).solve();
    ASSERT_GE(schedules.size(), 4U);
    for (std::size_t n = 0; n < 4; ++n) {
      auto const segments = segments_of(schedules[n], set, model);
      auto const evaluation = evaluator.evaluate(segments);
      auto const times = timed(evaluation, model);
      auto durations = times.durations;
      CriticalPaths paths(evaluation.steps);
      auto const before = paths.makespan(durations);
      auto const resized = resize(segments, evaluation, set, model, 0.1);
      std::vector<double> sums(set.transfers.size(), 0);
      for (std::size_t k = 0; k < resized.size(); ++k) {
        auto const change = resized[k].bytes - times.bytes[k];
        EXPECT_LE(std::abs(change), 0.1 * times.bytes[k] * (1 + 1e-9));
        durations[k] += change * times.time_per_byte[k];
        sums[resized[k].transfer] += change;
      }
      for (auto const sum : sums) EXPECT_NEAR(sum, 0, 64e3) << "a thousandth";
      gained += 1 - paths.makespan(durations) / before;
      possible += 1 - least_makespan(times, evaluation, set.transfers.size(), 0.1) / before;
    }
  }
  RecordProperty("share_of_the_optimum", std::to_string(gained / possible));
  EXPECT_GT(possible / 8, 0.03);
  EXPECT_GT(gained / possible, 0.9);
  EXPECT_LT(gained / possible, 1.001);
}

}  // namespace
}  // namespace lanewise
