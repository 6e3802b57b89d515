#pragma once
// The times of a step over repeated runs of its plan, summarised as one step of a trace.
#include <string>
#include <vector>

#include "core/io/json.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/trace.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {

class StepSamples {
 public:
  void add(Seconds start, Seconds end) {
    starts_.push_back(start.value());
    durations_.push_back((end - start).value());
  }
  // Medians over at least one run. `mismatch`: the first wrong byte of any run; empty: all were right.
  [[nodiscard]] StepTrace trace(Step const& step, std::string mismatch) const {
    StepTrace trace;
    trace.transfer = step.transfer;
    trace.bytes = step.bytes;
    trace.start = through_json(Seconds(median(starts_)));
    trace.end = trace.start + through_json(Seconds(median(durations_)));
    trace.verified = mismatch.empty();
    trace.spread = relative_spread(durations_);
    trace.mismatch = std::move(mismatch);
    return trace;
  }

 private:
  std::vector<double> starts_, durations_;  // seconds
};

}  // namespace lanewise
