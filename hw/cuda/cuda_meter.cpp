#include "hw/cuda/cuda_meter.hpp"

#include <fmt/format.h>

#include "core/measurement/repeated_sample.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/runs/plan_run.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::hw {
namespace {

// A stream holds at most about 100 steps behind a closed gate.
constexpr int kMaxBackToBack = 100;

// Throws DeviceError naming the step of which a byte arrived wrong.
void check(PlanRun const& run, std::vector<Step> const& steps, Machine const& machine) {
  auto const wrong = run.mismatches();
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!wrong[i].empty())
      throw DeviceError(fmt::format("{} to {}, {}, {}", machine.name_of(steps[i].from), machine.name_of(steps[i].to),
                                    exact_text(steps[i].bytes), text_of(steps[i].way, machine)),
                        0, wrong[i]);
}

// What cuFile stages through host memory is no figure of the drive's way to the GPU.
void refuse_compatibility_mode(std::vector<Step> const& steps, Drives& drives) {
  std::string staged;
  try {
    staged = drives.not_direct(steps);
  } catch (MissingError const& error) {  // no reason to measure nothing else
    throw PlanError(error.what());
  }
  if (!staged.empty()) throw PlanError(fmt::format("{}: {}", staged, kInCompatibilityMode));
}

// The sample of what once() returns, in seconds. Every byte is checked after every run.
template <class Once>
Sample checked_sample(Repetition repetition, PlanRun& run, std::vector<Step> const& steps, Machine const& machine,
                      Once once) {
  return repeated_sample(repetition.warm_up, repetition.repeat, [&] {
    auto const took = once();
    check(run, steps, machine);
    return took;
  });
}

}  // namespace

CudaMeter::CudaMeter(Model const& model, HardwareSettings const& settings)
    : model_(model),
      repetition_(settings.repetition),
      devices_(open_devices(model.machine())),
      drives_(model.machine(), settings.drives) {}

CudaMeter::~CudaMeter() = default;

Sample CudaMeter::alone(Step const& step) {
  refuse_compatibility_mode({step}, drives_);
  auto const plan = plan_of({step});
  PlanRun run(plan, model_, *devices_, drives_);
  auto const count = back_to_back_count(model_, step, kMaxBackToBack);
  return checked_sample(repetition_, run, plan.steps, model_.machine(),
                        [&] { return run.back_to_back(count).value() / count; });
}

Sample CudaMeter::together(std::vector<Step> const& steps) {
  refuse_compatibility_mode(steps, drives_);
  auto const plan = plan_of(steps);
  PlanRun run(plan, model_, *devices_, drives_);
  return checked_sample(repetition_, run, steps, model_.machine(), [&] { return run.once().makespan.value(); });
}

Plan CudaMeter::plan_of(std::vector<Step> steps) const {
  return {model_.machine().name, fingerprint(model_.machine()), std::move(steps), {}};
}

std::map<std::string, std::string> CudaMeter::environment() const {
  auto found = devices_->environment();
  if (auto drives = drives_.about(); !drives.empty()) found["drives"] = std::move(drives);
  return found;
}

}  // namespace lanewise::hw
