#include "lanewise/plan/executor.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "lanewise/io/error.hpp"

namespace lanewise {

RunTimes times_of(Trace const& trace) {
  RunTimes times{{}, trace.makespan};
  for (auto const& step : trace.steps) times.steps.push_back({step.start, step.end});
  return times;
}

void refuse_wrong_bytes(Plan const& plan, std::vector<std::string> const& mismatches) {
  for (std::size_t i = 0; i < mismatches.size(); ++i)
    if (!mismatches[i].empty())
      throw DeviceError(fmt::format("step '{}'", plan.steps[i].transfer), 0, "arrived wrong: " + mismatches[i]);
}

std::unique_ptr<RepeatableRun> Executor::prepare(Plan const&) {
  throw std::logic_error("an exact executor has nothing to repeat");
}

}  // namespace lanewise
