#include "core/plan/executor.hpp"

#include <fmt/format.h>

#include "core/io/error.hpp"

namespace lanewise {
namespace {

class RunEachTime : public RepeatableRun {
 public:
  RunEachTime(Executor& executor, Plan const& plan) : executor_(executor), plan_(plan) {}

  RunTimes once() override {
    auto const trace = executor_.run(plan_);
    RunTimes times{{}, trace.makespan};
    for (auto const& step : trace.steps) {
      if (!step.mismatch.empty())
        throw DeviceError(fmt::format("step '{}'", step.transfer), 0, "arrived wrong: " + step.mismatch);
      times.steps.push_back({step.start, step.end});
    }
    return times;
  }

 private:
  Executor& executor_;
  Plan const& plan_;
};

}  // namespace

std::unique_ptr<RepeatableRun> Executor::prepare(Plan const& plan) {
  return std::make_unique<RunEachTime>(*this, plan);
}

}  // namespace lanewise
