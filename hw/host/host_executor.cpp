#include "hw/host/host_executor.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "core/io/interrupt.hpp"
#include "core/plan/run_samples.hpp"
#include "hw/host/host_run.hpp"
#include "hw/program/plan_check.hpp"

namespace lanewise::hw {
namespace {

// One run after another, of which every byte must be right.
class CheckedHostRun : public RepeatableRun {
 public:
  CheckedHostRun(Plan const& plan, Model const& model, Drives& drives) : plan_(plan), run_(plan, model, drives) {}

  RunTimes once() override {
    auto times = run_.once();
    refuse_wrong_bytes(plan_, run_.mismatches());
    return times;
  }

 private:
  Plan const& plan_;
  HostRun run_;
};

}  // namespace

HostExecutor::HostExecutor(Model const& model, HardwareSettings const& settings)
    : model_(model), repetition_(settings.repetition), drives_(model.machine(), settings.drives) {}

std::unique_ptr<RepeatableRun> HostExecutor::prepare(Plan const& plan) {
  check_plan(plan, model_.machine());
  return std::make_unique<CheckedHostRun>(plan, model_, drives_);
}

std::map<std::string, std::string> HostExecutor::environment() const {
  std::map<std::string, std::string> found{{"executor", "host"}};
  utsname system{};
  if (uname(&system) == 0) found["kernel"] = system.release;
  if (auto drives = drives_.about(); !drives.empty()) found["drives"] = std::move(drives);
  return found;
}

Trace HostExecutor::run(Plan const& plan) {
  check_plan(plan, model_.machine());
  HostRun prepared(plan, model_, drives_);
  RunSamples samples(plan);
  for (int run = -repetition_.warm_up; run < repetition_.repeat; ++run) {
    throw_if_interrupted();
    auto const times = prepared.once();
    samples.add_mismatches(prepared.mismatches());
    if (run >= 0) samples.add(times);
  }
  Trace trace;
  trace.mode = "hw";
  trace.machine = plan.machine;
  trace.fingerprint = plan.fingerprint;
  trace.environment = environment();
  trace.environment["repetitions"] = std::to_string(repetition_.repeat);
  samples.summarise(trace);
  return trace;
}

}  // namespace lanewise::hw
