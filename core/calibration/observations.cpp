#include "core/calibration/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/calibration/makespan_together.hpp"
#include "core/io/spelling.hpp"
#include "core/measurement/measured_transfer.hpp"
#include "core/measurement/session_noise.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

bool there_and_back(MeasuredPoint const& point) {
  return point.flows.size() == 2 && point.flows[0].from == point.flows[1].to &&
         point.flows[0].to == point.flows[1].from && point.flows[0].from != point.flows[0].to &&
         point.bytes_of(point.flows[0]) == point.bytes_of(point.flows[1]);
}

Plan plan_of(Observation const& observation) {
  Plan plan;
  for (std::size_t i = 0; i < observation.requests.size(); ++i) {
    auto const& request = observation.requests[i];
    plan.steps.push_back(
        {std::to_string(i), request.from, request.to, request.bytes, request.op, observation.ways[i], {}});
  }
  return plan;
}

}  // namespace

bool serves_fit(MeasuredPoint const& point) { return point.flows.size() == 1 || there_and_back(point); }

Observations::Observations(Measurement const& measurement, Machine const& machine, Catalogue& catalogue)
    : measurement_(measurement), machine_(machine), catalogue_(catalogue) {
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) {
      if (series.collective) continue;  // says what a library does, not only what links carry
      auto const& doubtful = measurement.doubtful.empty() ? series.doubtful : measurement.doubtful;
      if (!doubtful.empty())
        ++left_out_["doubtful: " + doubtful];
      else if (series.program)
        ++left_out_["copies that wait for one another as their program has it"];
      else if (!serves_fit(point))
        ++left_out_["several transfers at once, which the fit does not need"];
      else
        add(series, point);
    }
}

Observations::Observations(Measurement const& measurement, Machine const& machine, Catalogue& catalogue,
                           std::vector<std::string> const& patterns, MakeExecutor executor)
    : measurement_(measurement), machine_(machine), catalogue_(catalogue), executor_(std::move(executor)) {
  std::vector<std::string> names;
  for (auto const& series : measurement.series) names.push_back(series.name);
  for (auto const& pattern : patterns) {
    auto const found = std::find(names.begin(), names.end(), pattern);
    if (found == names.end())
      throw InputError(fmt::format("--patterns: '{}' has no series '{}'{} it has: {}", measurement.name, pattern,
                                   did_you_mean_first(pattern, names), fmt::join(names, ", ")));
    auto const& series = measurement.series[static_cast<std::size_t>(found - names.begin())];
    for (auto const& point : series.points) add(series, point);
  }
}

std::size_t Observations::stand_under(std::vector<Setting> const& settings, SourcePos const& pos) {
  for (std::size_t i = 0; i < stands_.size(); ++i)
    if (stands_[i]->settings == settings) return i;
  auto machine = machine_;
  try {
    for (auto const& setting : measurement_.settings) apply_setting(machine, setting, catalogue_);
    for (auto const& setting : settings) apply_setting(machine, setting, catalogue_);
  } catch (InputError const& error) {
    refuse_at(pos, error.what());
  }
  stands_.push_back(std::make_unique<Stand>(settings, std::move(machine)));
  return stands_.size() - 1;
}

void Observations::add(MeasuredSeries const& series, MeasuredPoint const& point) {
  Observation observation;
  observation.series = &series;
  observation.point = &point;
  observation.stand = stand_under(series.settings, series.pos);
  auto const& [unused, model, planner] = *stands_[observation.stand];
  auto name = series.name;
  for (auto const& flow : point.flows) {
    name += " " + flow.from + ">" + flow.to;
    auto const request = request_of(model.machine(), series, point, flow);
    try {
      auto const choice = planner.choose(request);
      if (!choice.chosen) {
        ++left_out_[fmt::format("refused by {}", choice.evaluated.front().refused_by->id)];
        return;
      }
      observation.ways.push_back(choice.evaluated[*choice.chosen].way);
    } catch (PlanError const& error) {
      ++left_out_[error.what()];
      return;
    }
    observation.requests.push_back(request);
  }
  observation.cluster = clusters_.try_emplace(name, clusters_.size()).first->second;
  auto const executor = executor_ ? executor_(model) : nullptr;
  try {
    if (figure(model, executor.get(), observation).value_or(0) > 0)
      observations_.push_back(std::move(observation));
    else
      ++left_out_["a figure that nobody knows bounds it, or it would wait for an engine"];
  } catch (PlanError const& error) {
    ++left_out_[error.what()];
  }
}

double Observations::drift(Observation const& observation) const {
  return session_noise(measurement_, machine_, observation.requests);
}

std::optional<double> Observations::figure(Model const& model, Executor* executor,
                                           Observation const& observation) const {
  auto const& series = *observation.series;
  auto const& requests = observation.requests;
  if (requests.size() == 1) return predicted_alone(model, series, requests.front(), observation.ways.front());
  std::optional<Seconds> makespan;
  if (executor != nullptr) {
    makespan = executor->run(plan_of(observation)).makespan;
  } else {
    std::vector<Released> released;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto const& r = requests[i];
      released.push_back({model.lower(r.from, r.to, r.bytes, r.op, observation.ways[i]), r.bytes});
    }
    makespan = makespan_together(model, released);
  }
  if (!makespan) return std::nullopt;
  if (series.quantity != MeasuredQuantity::Bandwidth) return makespan->value();
  Bytes all{0};
  for (auto const& request : requests) all += request.bytes;
  return (all / *makespan).value();
}

std::vector<double> Observations::predictions(std::vector<CalibrationTarget> const& targets,
                                              std::vector<double> const& values) const {
  std::vector<Model> models;
  std::vector<std::unique_ptr<Executor>> executors;
  models.reserve(stands_.size());  // an executor keeps its model's place
  for (auto const& stand : stands_) {
    auto machine = stand->model.machine();
    for (std::size_t t = 0; t < targets.size(); ++t) targets[t].set(machine, values[t]);
    models.emplace_back(std::move(machine));
    executors.push_back(executor_ ? executor_(models.back()) : nullptr);
  }
  std::vector<double> logs;
  logs.reserve(observations_.size());
  for (auto const& observation : observations_)
    logs.push_back(
        std::log(figure(models[observation.stand], executors[observation.stand].get(), observation).value()));
  return logs;
}

}  // namespace lanewise
