#include "hw/cuda/cuda_executor.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/io/interrupt.hpp"
#include "core/plan/run_environment.hpp"
#include "core/plan/run_samples.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/runs/ll_run.hpp"
#include "hw/cuda/runs/plan_run.hpp"
#include "hw/cuda/runs/program_run.hpp"
#include "hw/program/plan_check.hpp"
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

// One run after another, of which every byte must be right.
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

CudaExecutor::CudaExecutor(Model const& model, HardwareSettings const& settings)
    : model_(model),
      repetition_(settings.repetition),
      devices_(open_devices(model.machine())),
      drives_(model.machine(), settings.drives) {}

CudaExecutor::~CudaExecutor() = default;

std::unique_ptr<RepeatableRun> CudaExecutor::prepare(Plan const& plan) {
  check_plan(plan, model_.machine());
  return std::make_unique<CheckedRun>(plan, prepare_run(plan, model_, *devices_, drives_).run);
}

Trace CudaExecutor::run(Plan const& plan) {
  check_plan(plan, model_.machine());
  auto const [prepared, form] = prepare_run(plan, model_, *devices_, drives_);
  RunSamples samples(plan);
  Trace trace;
  for (int run = -repetition_.warm_up; run < repetition_.repeat; ++run) {
    throw_if_interrupted();
    auto const times = prepared->once();
    samples.add_mismatches(prepared->mismatches());
    if (run >= 0) samples.add(times);
  }
  trace.mode = "hw";
  trace.machine = plan.machine;
  trace.fingerprint = plan.fingerprint;
  trace.environment = devices_->environment();
  trace.environment["executor"] = "CUDA";
  trace.environment["repetitions"] = std::to_string(repetition_.repeat);
  if (plan.collective) trace.environment["form"] = form;
  if (auto staged = drives_.not_direct(plan.steps); !staged.empty())
    trace.environment[kCompatibilityModeKey] = std::move(staged);
  if (auto drives = drives_.about(); !drives.empty()) trace.environment["drives"] = std::move(drives);
  if (prepared->began_early())
    trace.environment["release"] = "early: the driver made the host wait, so steps began before all were enqueued";
  samples.summarise(trace);
  return trace;
}

}  // namespace lanewise::hw
