#include "hw/cuda/cuda_executor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/machine/fingerprint.hpp"
#include "core/plan/step_samples.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/runs/ll_run.hpp"
#include "hw/cuda/runs/plan_run.hpp"
#include "hw/cuda/runs/program_run.hpp"

namespace lanewise::hw {
namespace {

// A plan ready to run, and how it is run, for people.
struct PreparedRun {
  std::unique_ptr<Run> run;
  std::string form;
};
PreparedRun prepare_run(Plan const& plan, Model const& model, Devices& devices) {
  auto const& machine = model.machine();
  if (auto const why = why_streams(plan, machine))
    return {std::make_unique<PlanRun>(plan, model, devices), "streams: " + *why};
  if (auto const programs = ll_programs(plan, machine, max_blocks_per_gpu(plan, devices, max_resident_ll_blocks)))
    return {std::make_unique<LLRun>(plan, devices, *programs), "one kernel a GPU: data with flags"};
  return {std::make_unique<ProgramRun>(plan, devices), "one kernel a GPU"};
}

}  // namespace

CudaExecutor::CudaExecutor(Model const& model, Repetition repetition)
    : model_(model), repetition_(repetition), devices_(open_devices(model.machine())) {}

CudaExecutor::~CudaExecutor() = default;

Trace CudaExecutor::run(Plan const& plan) {
  plan.verify(model_.machine());
  if (plan.fingerprint != fingerprint(model_.machine()))
    throw InputError(
        fmt::format("the plan was made for another machine or other settings than '{}'", model_.machine().name));
  auto const [prepared, form] = prepare_run(plan, model_, *devices_);
  std::vector<StepSamples> samples(plan.steps.size());
  std::vector<std::string> mismatches(plan.steps.size());
  std::vector<double> makespans;
  Trace trace;
  for (int run = -repetition_.warm_up; run < repetition_.repeat; ++run) {
    throw_if_interrupted();
    auto const times = prepared->once();
    auto const wrong = prepared->mismatches();
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (mismatches[i].empty()) mismatches[i] = wrong[i];
      if (run >= 0) samples[i].add(times.steps[i].start, times.steps[i].end);
    }
    if (run >= 0) makespans.push_back(times.makespan.value());
  }
  trace.mode = "hw";
  trace.machine = plan.machine;
  trace.fingerprint = plan.fingerprint;
  trace.environment = devices_->environment();
  trace.environment["executor"] = "CUDA";
  trace.environment["repetitions"] = std::to_string(repetition_.repeat);
  if (plan.collective) trace.environment["form"] = form;
  if (prepared->began_early())
    trace.environment["release"] = "early: the driver made the host wait, so steps began before all were enqueued";
  trace.makespan = through_json(Seconds(median(makespans)));
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    trace.steps.push_back(samples[i].trace(plan.steps[i], std::move(mismatches[i])));
  return trace;
}

}  // namespace lanewise::hw
