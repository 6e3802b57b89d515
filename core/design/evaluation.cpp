#include "core/design/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/percent.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

bool has_amd_gpus(Machine const& machine) {
  auto const gpus = machine.all(PciKind::Gpu);
  auto const* part = gpus.empty() ? nullptr : machine.part_of(gpus.front());
  return part != nullptr && part->gpu.vendor == "amd";
}

// Whether a library could do something of it: a collective that stands alone.
bool is_for_library(Scenario const& scenario) {
  return scenario.collective && scenario.collective->algorithm == Algorithm::Auto;
}

std::string longest_part(StepTime const& step) {
  std::string longest = "computing";
  auto most = step.computing;
  for (auto const& share : step.patterns)
    if (share.exposed > most) {
      most = share.exposed;
      longest = fmt::format("{} ({})", share.time.pattern.id, share.time.reach);
    }
  return fmt::format("{} {}", longest, percent_text(most / step.step, 0));
}

}  // namespace

PlannedJob::PlannedJob(Scenario const& scenario, Model const& model, std::optional<Library> library,
                       std::function<Machine(std::string const&)> const& find_machine, Model const* fitted_on) {
  if (!scenario.settings.empty() || !scenario.variants.front().settings.empty())
    throw InputError(fmt::format("scenario '{}' has settings; give them to the candidates ('set')", scenario.name));
  if (library && library->kind == LibraryKind::Nccl && has_amd_gpus(model.machine()))
    library = parse_library("rccl").value;
  if (scenario.workload) {
    auto workload = *scenario.workload;
    workload.library = library;
    if (auto const& fitted = workload.compute.fitted) {
      if (!fitted->machine.empty())
        fitted_model_.emplace(find_machine(fitted->machine));
      else if (fitted_on != nullptr)
        fitted_model_ = *fitted_on;
      else
        throw InputError("its computing is fitted to a step on a machine that is not named; add 'machine' to 'fitted'");
    }
    step_.emplace(std::move(workload), model, fitted_model_ ? *fitted_model_ : model);
    return;
  }
  Aim aim{.objective = scenario.objective, .effort = Effort::Quick};
  auto asked = scenario;
  if (asked.collective) asked.collective->library.reset();
  if (library && is_for_library(scenario)) aim.library = library;
  plan_ = plan_of(asked, model, aim);
}

StepTime PlannedJob::step(Model const& model) const {
  if (!fitted_model_) return step_->time(model, model);
  return step_->time(model, fitted_model_->with_assumptions(model.assumed()));
}

Seconds PlannedJob::time(Model const& model) const {
  if (step_) return step(model).step;
  return estimate(model, plan_->steps, plan_->folding).makespan;
}

JobFigures PlannedJob::figures(Model const& model) const {
  JobFigures figures;
  if (step_) {
    auto const found = step(model);
    figures.time = found.step;
    figures.tokens_per_second = found.tokens_per_second;
    figures.bottleneck = longest_part(found);
    return figures;
  }
  auto const trace = EstimatingExecutor(model).run(*plan_);
  figures.time = trace.makespan;
  if (plan_->collective) figures.bus_bandwidth = bus_bandwidth(*plan_->collective, trace.makespan);
  if (!trace.resources.empty())
    figures.bottleneck =
        fmt::format("{} {}", trace.resources.front().name, percent_text(trace.resources.front().utilisation, 0));
  return figures;
}

}  // namespace lanewise
