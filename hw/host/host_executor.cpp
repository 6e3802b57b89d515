#include "hw/host/host_executor.hpp"

#include <sys/utsname.h>

#include "hw/host/host_run.hpp"
#include "hw/program/plan_check.hpp"
#include "hw/program/run.hpp"

namespace lanewise::hw {

HostExecutor::HostExecutor(Model const& model, HardwareSettings const& settings)
    : model_(model), repetition_(settings.repetition), drives_(model.machine(), settings.drives) {}

std::unique_ptr<RepeatableRun> HostExecutor::prepare(Plan const& plan) {
  check_plan(plan, model_.machine());
  return checked_run(plan, std::make_unique<HostRun>(plan, model_, drives_));
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
  auto trace = repeated_trace(plan, prepared, repetition_);
  trace.environment.merge(environment());
  return trace;
}

}  // namespace lanewise::hw
