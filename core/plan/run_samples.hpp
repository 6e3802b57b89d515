#pragma once
// The times of a plan over repeated runs, summarised as a trace: medians, their spread and their noise.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/plan/executor.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// How far the median of these times may be off: its 95 % confidence interval. Absent below six times, which have none.
std::optional<TimeRange> noise_of(std::vector<double> const& seconds);

class RunSamples {
 public:
  explicit RunSamples(Plan const& plan) : plan_(plan), steps_(plan.steps.size()), mismatches_(plan.steps.size()) {}

  void add(RunTimes const& times);
  // The first wrong byte of a step in any run; empty: all were right.
  void add_mismatches(std::vector<std::string> const& by_step);
  // Sets steps, makespan, spread and noise, over at least one run.
  void summarise(Trace& trace) const;

 private:
  struct StepSamples {
    std::vector<double> starts, durations;  // seconds
  };

  Plan const& plan_;
  std::vector<StepSamples> steps_;
  std::vector<std::string> mismatches_;
  std::vector<double> makespans_;  // seconds
};

}  // namespace lanewise
