#include "core/design/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/estimate/plan_parameters.hpp"
#include "core/text/percent.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/model/interval.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

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

template <class T>
std::optional<T> optional_from(Json const& json, char const* key) {
  auto const found = json.find(key);
  return found == json.end() ? std::nullopt : std::optional(found->get<T>());
}

}  // namespace

PlannedJob::PlannedJob(Scenario const& scenario, Model const& model, Approach approach, FindMachine const& find_machine,
                       Model const* fitted_on)
    : approach_(std::move(approach)) {
  if (!scenario.settings.empty() || !scenario.variants.front().settings.empty())
    throw InputError(fmt::format("scenario '{}' has settings; give them to the candidates ('set')", scenario.name));
  auto& library = approach_.library;
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
    step_.emplace(std::move(workload), model, fitted_model_ ? *fitted_model_ : model, approach_.effort);
    return;
  }
  Aim aim{.objective = scenario.objective, .effort = approach_.effort};
  auto asked = scenario;
  if (asked.collective) asked.collective->library.reset();
  if (library && is_for_library(scenario)) aim.library = library;
  plan_ = plan_of(asked, model, aim);
}

StepTime PlannedJob::step(Model const& model, MakeExecutor const& make_executor) const {
  if (!fitted_model_) return step_->time(model, model, make_executor);
  return step_->time(model, fitted_model_->with_assumptions(model.assumed()), make_executor);
}

Seconds PlannedJob::time(Model const& model) const {
  if (step_) return step(model, {}).step;
  return estimate(model, plan_->steps, plan_->folding).makespan;
}

JobFigures PlannedJob::figures(Model const& model) const {
  JobFigures figures;
  if (step_) {
    auto const found = step(model, approach_.make_executor);
    figures.time = found.step;
    if (found.tokens_per_second > 0) figures.tokens_per_second = found.tokens_per_second;  // a trace does not say
    figures.bottleneck = longest_part(found);
    return figures;
  }
  auto const trace =
      approach_.make_executor ? approach_.make_executor(model)->run(*plan_) : EstimatingExecutor(model).run(*plan_);
  figures.time = trace.makespan;
  if (plan_->collective) figures.bus_bandwidth = bus_bandwidth(*plan_->collective, trace.makespan);
  if (!trace.resources.empty())
    figures.bottleneck =
        fmt::format("{} {}", trace.resources.front().name, percent_text(trace.resources.front().utilisation, 0));
  return figures;
}

std::vector<Parameter> PlannedJob::parameters(Model const& model) const {
  return step_ ? step_->parameters(model, fitted_model_ ? *fitted_model_ : model) : parameters_of(*plan_, model);
}

JobEvaluation evaluate_job(Scenario const& scenario, Model const& model, Approach const& approach,
                           PlannedJob::FindMachine const& find_machine, EvaluationDetail const& detail) {
  JobEvaluation found;
  try {
    PlannedJob const job(scenario, model, approach, find_machine);
    auto figures = job.figures(model);
    auto const time_of = [&](Model const& moved) { return job.time(moved).value(); };
    if (detail.range || !detail.samples.empty()) {
      auto const estimated = time_of(model);
      if (detail.range) {
        // Both are relative to the estimate, whose range they are.
        auto const range = Intervals(model).of(time_of, job.parameters(model));
        figures.range = {figures.time * (range.low / estimated), figures.time * (range.high / estimated)};
      }
      for (auto const& assumed : detail.samples)
        found.samples.push_back(time_of(model.with_assumptions(assumed)) / estimated);
    }
    if (detail.best && approach.library && (scenario.collective || scenario.workload)) {
      auto as_well_as_possible = approach;
      as_well_as_possible.library.reset();
      found.best = PlannedJob(scenario, model, as_well_as_possible, find_machine).figures(model).time;
    }
    found.figures = std::move(figures);
  } catch (PlanError const& error) {
    found.failure = error.what();
  } catch (InputError const& error) {  // the job's names do not fit this candidate
    found.failure = error.first_message();
  }
  if (!found.failure.empty()) found = {.failure = found.failure, .figures = {}, .best = {}, .samples = {}};
  return found;
}

Json to_json(JobEvaluation const& evaluation) {
  if (!evaluation.figures) return {{"failure", evaluation.failure}};
  auto const& figures = *evaluation.figures;
  Json json{{"time_s", figures.time.value()}};
  if (figures.range) json["range_s"] = {figures.range->low.value(), figures.range->high.value()};
  if (figures.bus_bandwidth) json["bus_bandwidth_Bps"] = figures.bus_bandwidth->value();
  if (figures.tokens_per_second) json["tokens_per_second"] = *figures.tokens_per_second;
  json["busiest"] = figures.bottleneck;
  if (evaluation.best) json["best_s"] = evaluation.best->value();
  if (!evaluation.samples.empty()) json["samples"] = evaluation.samples;
  return json;
}

JobEvaluation job_evaluation_from(Json const& json) {
  JobEvaluation evaluation;
  if (json.contains("failure")) {
    evaluation.failure = json.at("failure").get<std::string>();
    return evaluation;
  }
  auto& figures = evaluation.figures.emplace();
  figures.time = Seconds(json.at("time_s").get<double>());
  if (auto const range = optional_from<std::vector<double>>(json, "range_s"))
    figures.range = {Seconds(range->at(0)), Seconds(range->at(1))};
  if (auto const rate = optional_from<double>(json, "bus_bandwidth_Bps")) figures.bus_bandwidth = BytesPerSecond(*rate);
  figures.tokens_per_second = optional_from<double>(json, "tokens_per_second");
  figures.bottleneck = json.at("busiest").get<std::string>();
  if (auto const best = optional_from<double>(json, "best_s")) evaluation.best = Seconds(*best);
  evaluation.samples = optional_from<std::vector<double>>(json, "samples").value_or(std::vector<double>());
  return evaluation;
}

}  // namespace lanewise
