#include "hw/program/run.hpp"

#include <utility>

#include "core/io/interrupt.hpp"
#include "core/plan/run_samples.hpp"

namespace lanewise::hw {
namespace {

class CheckedRun : public RepeatableRun {
 public:
  CheckedRun(Plan const& plan, std::unique_ptr<Run> run) : plan_(plan), run_(std::move(run)) {}

  RunTimes once() override {
    auto times = run_->once();
    refuse_wrong_bytes(plan_, run_->mismatches());
    return times;
  }

 private:
  Plan const& plan_;
  std::unique_ptr<Run> run_;
};

}  // namespace

std::unique_ptr<RepeatableRun> checked_run(Plan const& plan, std::unique_ptr<Run> run) {
  return std::make_unique<CheckedRun>(plan, std::move(run));
}

Trace repeated_trace(Plan const& plan, Run& run, Repetition repetition) {
  RunSamples samples(plan);
  for (int number = -repetition.warm_up; number < repetition.repeat; ++number) {
    throw_if_interrupted();
    auto const times = run.once();
    samples.add_mismatches(run.mismatches());
    if (number >= 0) samples.add(times);
  }
  Trace trace;
  trace.mode = "hw";
  trace.machine = plan.machine;
  trace.fingerprint = plan.fingerprint;
  trace.environment["repetitions"] = std::to_string(repetition.repeat);
  if (run.began_early())
    trace.environment["release"] = "early: the driver made the host wait, so steps began before all were enqueued";
  samples.summarise(trace);
  return trace;
}

}  // namespace lanewise::hw
