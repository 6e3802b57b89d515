#include "hw/cuda/cuda_executor.hpp"

#include <utility>

#include "core/plan/run_environment.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/runs/ll_run.hpp"
#include "hw/cuda/runs/plan_run.hpp"
#include "hw/cuda/runs/program_run.hpp"
#include "hw/program/plan_check.hpp"
#include "hw/program/run.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// A plan ready to run, and how it is run, for people.
struct PreparedRun {
  std::unique_ptr<Run> run;
  std::string form;
};
PreparedRun prepare_run(Plan const& plan, Model const& model, Devices& devices, Drives& drives) {
  auto const& machine = model.machine();
  if (auto const why = why_streams(plan, machine))
    return {std::make_unique<PlanRun>(plan, model, devices, drives), "streams: " + *why};
  if (auto const programs = ll_programs(plan, machine, max_blocks_per_gpu(plan, devices, max_resident_ll_blocks)))
    return {std::make_unique<LLRun>(plan, devices, *programs), "one kernel a GPU: data with flags"};
  return {std::make_unique<ProgramRun>(plan, devices), "one kernel a GPU"};
}

}  // namespace

CudaExecutor::CudaExecutor(Model const& model, HardwareSettings const& settings)
    : model_(model),
      repetition_(settings.repetition),
      devices_(open_devices(model.machine())),
      drives_(model.machine(), settings.drives) {}

CudaExecutor::~CudaExecutor() = default;

std::unique_ptr<RepeatableRun> CudaExecutor::prepare(Plan const& plan) {
  check_plan(plan, model_.machine());
  return checked_run(plan, prepare_run(plan, model_, *devices_, drives_).run);
}

Trace CudaExecutor::run(Plan const& plan) {
  check_plan(plan, model_.machine());
  auto const [prepared, form] = prepare_run(plan, model_, *devices_, drives_);
  auto trace = repeated_trace(plan, *prepared, repetition_);
  trace.environment.merge(devices_->environment());
  trace.environment["executor"] = "CUDA";
  if (plan.collective) trace.environment["form"] = form;
  if (auto staged = drives_.not_direct(plan.steps); !staged.empty())
    trace.environment[kCompatibilityModeKey] = std::move(staged);
  if (auto drives = drives_.about(); !drives.empty()) trace.environment["drives"] = std::move(drives);
  return trace;
}

}  // namespace lanewise::hw
