#include "core/accuracy/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/calibration/observations.hpp"
#include "core/estimate/plan_parameters.hpp"
#include "core/io/error.hpp"
#include "core/machine/part_fields.hpp"
#include "core/machine/path_class.hpp"
#include "core/measurement/measured_transfer.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

// Reads a value as the part's file would have it.
void substitute(Part& part, PartField const& field, Withheld const& withheld) {
  if (withheld.instead.empty()) return;
  auto const source = SourceText::from_memory("withhold", fmt::format("{}: {}", withheld.key, withheld.instead));
  MapSpec const only{"withhold", {field.spec}};
  Diagnostics diagnostics;
  try {
    auto const root = parse_yaml(source);
    MapReader reader(root, only, source, diagnostics);
    field.read(part, reader);
    diagnostics.throw_if_any();
  } catch (InputError const&) {
    refuse_at(withheld.pos,
              fmt::format("'withhold': '{}' is no {} ({})", withheld.instead, withheld.key, field.spec.doc));
  }
}

// Takes a part's figure away. Says so when there is no such part or key: the file would promise what it does not do.
void withhold(Machine& machine, Withheld const& withheld) {
  for (auto& part : machine.parts) {
    if (part.name != withheld.part) continue;
    for (auto const& field : part_fields(part.kind)) {
      if (field.spec.name != withheld.key) continue;
      field.clear(part);
      return substitute(part, field, withheld);
    }
    refuse_at(withheld.pos, fmt::format("'withhold': the part '{}' has no key '{}'", withheld.part, withheld.key));
  }
  refuse_at(withheld.pos, fmt::format("'withhold': '{}' is not a part of '{}'", withheld.part, machine.name));
}

// One model for each list of settings.
class Bench {
 public:
  Bench(Measurement const& measurement, AccuracyContext const& world) : measurement_(measurement), world_(world) {}

  struct Stand {
    explicit Stand(Machine machine) : model(std::move(machine)), planner(model), intervals(model) {}
    Model model;
    Planner planner;
    Intervals intervals;
    std::map<Model const*, std::unique_ptr<Executor>> executors;
  };

  Stand& under(std::vector<Setting> const& settings, SourcePos const& pos) {
    for (auto& [known, stand] : stands_)
      if (known == settings) return *stand;
    auto machine = world_.machine(measurement_);
    if (world_.calibration != nullptr) apply(*world_.calibration, machine);
    try {
      for (auto const& setting : measurement_.settings) apply_setting(machine, setting, world_.catalogue);
      for (auto const& setting : settings) apply_setting(machine, setting, world_.catalogue);
    } catch (InputError const& error) {
      refuse_at(pos, error.what());
    }
    world_.override_machine(machine);
    for (auto const& withheld : measurement_.withheld)
      if (!calibrated(withheld)) withhold(machine, withheld);
    stands_.emplace_back(settings, std::make_unique<Stand>(std::move(machine)));
    return *stands_.back().second;
  }

  [[nodiscard]] bool wants_ranges() const { return world_.ranges; }

  Executor* executor(Stand& stand, Model const& model) {
    auto const [found, fresh] = stand.executors.try_emplace(&model);
    if (fresh) found->second = world_.executor(model);
    return found->second.get();
  }

 private:
  [[nodiscard]] bool calibrated(Withheld const& withheld) const {
    if (world_.calibration == nullptr) return false;
    auto const& values = world_.calibration->values;
    return std::any_of(values.begin(), values.end(), [&](CalibratedValue const& value) {
      return value.part == withheld.part && value.key == withheld.key;
    });
  }

  Measurement const& measurement_;
  AccuracyContext const& world_;
  std::vector<std::pair<std::vector<Setting>, std::unique_ptr<Stand>>> stands_;
};

class PointEvaluator {
 public:
  PointEvaluator(Bench& bench, Bench::Stand& stand, MeasuredSeries const& series)
      : bench_(bench), stand_(stand), series_(series) {}

  PointResult evaluate(MeasuredPoint const& point) {
    result_ = {};
    ways_.clear();
    result_.series = series_.name;
    result_.quantity = series_.quantity;
    for (auto const& flow : point.flows) result_.bytes = std::max(result_.bytes, point.bytes_of(flow));
    result_.measured = point.value;
    result_.pos = point.pos;
    result_.what = point.flows.size() == 1 ? fmt::format("{} > {}", point.flows[0].from, point.flows[0].to)
                   : point.flows.size() == 2 && point.flows[0].from == point.flows[1].to &&
                           point.flows[0].to == point.flows[1].from
                       ? fmt::format("{} <> {}", point.flows[0].from, point.flows[0].to)
                       : fmt::format("{} at once", point.flows.size());
    auto const requests = requests_of(stand_.model.machine(), series_, point);
    if (!allowed(requests)) return result_;
    if (requests.size() == 1)
      alone(requests.front());
    else
      together(requests);
    return result_;
  }

 private:
  // Chooses a way for every flow; what was measured must be allowed.
  bool allowed(std::vector<Request> const& requests) {
    for (auto const& request : requests) {
      try {
        auto const choice = stand_.planner.choose(request);
        auto const best = choice.chosen.value_or(0);
        if (&request == &requests.front()) describe(request, choice.evaluated[best].way);
        if (!choice.chosen) {
          result_.legal = false;
          result_.binding = fmt::format("refused by {}", choice.evaluated.front().refused_by->id);
          return false;
        }
        ways_.push_back(choice.evaluated[best].way);
      } catch (PlanError const& error) {
        result_.legal = false;
        result_.binding = error.what();
        return false;
      }
    }
    return true;
  }

  void describe(Request const& request, Way const& way) {
    result_.group = fmt::format("{}{} {}", to_string(way.mechanism), way.by_driver ? " by the driver" : "",
                                path_between(stand_.model.machine(), request.from, request.to));
  }

  void alone(Request const& request) {
    auto const& way = ways_.front();
    auto const demand = stand_.model.lower(request.from, request.to, request.bytes, request.op, way);
    auto const cost = stand_.model.cost(demand, request.bytes);
    if (!cost) {
      result_.binding = fmt::format("nobody says {}", stand_.model.resources().at(*demand.unknown).missing);
      return;
    }
    result_.binding = stand_.model.text_of_binding(*cost);
    result_.predicted = predicted_alone(stand_.model, series_, request, way);
    if (!bench_.wants_ranges()) return;
    result_.interval = stand_.intervals.of(
        [&](Model const& model) { return predicted_alone(model, series_, request, way).value_or(0); });
  }

  void together(std::vector<Request> const& requests) {
    Plan plan;
    try {
      plan = stand_.planner.plan(requests);
    } catch (PlanError const& error) {
      result_.legal = false;
      result_.binding = error.what();
      return;
    }
    auto const run = [&](Model const& model) {
      auto* executor = bench_.executor(stand_, model);
      return executor == nullptr ? 0.0 : figure_together(requests, executor->run(plan));
    };
    auto* executor = bench_.executor(stand_, stand_.model);
    if (executor == nullptr) {
      result_.binding = "several transfers at once need the simulator";
      return;
    }
    try {
      auto const trace = executor->run(plan);
      result_.binding = trace.resources.empty() ? "nothing" : trace.resources.front().name;
      result_.predicted = figure_together(requests, trace);
      if (bench_.wants_ranges()) result_.interval = stand_.intervals.of(run, parameters_of(plan, stand_.model));
    } catch (PlanError const& error) {
      result_.binding = error.what();
    }
  }

  // Of all flows, or of the first while the others run.
  [[nodiscard]] double figure_together(std::vector<Request> const& requests, Trace const& trace) const {
    if (series_.quantity != MeasuredQuantity::Bandwidth) return trace.makespan.value();
    Bytes bytes{0};
    for (auto const& request : requests) bytes += request.bytes;
    if (!series_.of_first) return (bytes / trace.makespan).value();
    auto const& first = requests.front();
    Seconds end{0};
    for (auto const& step : trace.steps)
      if (step.transfer == first.id) end = std::max(end, step.end);
    return (first.bytes / end).value();
  }

  Bench& bench_;
  Bench::Stand& stand_;
  MeasuredSeries const& series_;
  PointResult result_;
  std::vector<Way> ways_;
};

// --------------------------------------------------------------------------------------------------------------- facts

class FactEvaluator {
 public:
  FactEvaluator(Bench::Stand& stand, MeasuredFact const& fact) : stand_(stand), fact_(fact) {
    request_.from = place_at(stand.model.machine(), fact.flow.from, fact.pos);
    request_.to = place_at(stand.model.machine(), fact.flow.to, fact.pos);
    request_.bytes = fact.bytes;
    request_.op = fact.op;
    result_.pos = fact.pos;
  }

  FactResult evaluate() {
    try {
      say();
    } catch (PlanError const& error) {  // such places have no such way at all
      result_.agrees = false;
      result_.found = error.what();
    }
    return std::move(result_);
  }

 private:
  void say() {
    auto const pair = fmt::format("{} > {}: ", fact_.flow.from, fact_.flow.to);
    if (fact_.mechanism) {
      result_.what = fmt::format("{}{} {}", pair, to_string(*fact_.mechanism), fact_.legal ? "works" : "is refused");
      auto const refusal = refusal_of(*fact_.mechanism);
      result_.agrees = refusal.empty() == fact_.legal;
      result_.found = refusal.empty() ? "legal" : "refused by " + refusal;
    } else if (fact_.chosen) {
      result_.what = fmt::format("{}{} is taken", pair, to_string(*fact_.chosen));
      auto const choice = stand_.planner.choose(request_);
      result_.found = choice.chosen ? to_string(choice.evaluated[*choice.chosen].way.mechanism) : "no legal way";
      result_.agrees = result_.found == to_string(*fact_.chosen);
    } else {
      result_.what = fmt::format("{}{} is faster than {}", pair, to_string(*fact_.faster), to_string(*fact_.slower));
      auto const fast = time_of(*fact_.faster);
      auto const slow = time_of(*fact_.slower);
      result_.agrees = fast && slow && *fast < *slow;
      result_.found = fast && slow ? fmt::format("{:.3g} against {:.3g} us", *fast * 1e6, *slow * 1e6)
                                   : "one of them is refused or unknown";
    }
  }

  Choice choice_of(Mechanism mechanism) {
    auto request = request_;
    request.only = mechanism;
    request.by_driver = fact_.by_driver;
    return stand_.planner.choose(request);
  }

  // The rule that refuses every way of a mechanism; empty where one is legal.
  std::string refusal_of(Mechanism mechanism) {
    try {
      auto const choice = choice_of(mechanism);
      return choice.chosen ? "" : std::string(choice.evaluated.front().refused_by->id);
    } catch (PlanError const& error) {
      return error.what();
    }
  }

  std::optional<double> time_of(Mechanism mechanism) {
    auto const choice = choice_of(mechanism);
    if (!choice.chosen || !choice.evaluated[*choice.chosen].cost) return std::nullopt;
    return choice.evaluated[*choice.chosen].cost->time.value();
  }

  Bench::Stand& stand_;
  MeasuredFact const& fact_;
  Request request_;
  FactResult result_;
};

}  // namespace

std::optional<double> PointResult::error() const {
  if (!predicted) return std::nullopt;
  return std::abs(*predicted / measured - 1);
}

MeasurementResult evaluate(Measurement const& measurement, AccuracyContext const& world) {
  MeasurementResult result{measurement.name,
                           measurement.title,
                           measurement.machine,
                           measurement.source,
                           measurement.grade,
                           measurement.date,
                           measurement.method,
                           measurement.doubtful,
                           {},
                           {}};
  Bench bench(measurement, world);
  for (auto const& series : measurement.series) {
    auto& stand = bench.under(series.settings, series.pos);
    PointEvaluator evaluate(bench, stand, series);
    for (auto const& point : series.points) {
      result.points.push_back(evaluate.evaluate(point));
      result.points.back().doubtful = measurement.doubtful.empty() ? series.doubtful : measurement.doubtful;
      result.points.back().fitted = world.fitted_to_this && serves_fit(point);
    }
  }
  for (auto const& fact : measurement.facts) {
    result.facts.push_back(FactEvaluator(bench.under(fact.settings, fact.pos), fact).evaluate());
    result.facts.back().doubtful = measurement.doubtful.empty() ? fact.doubtful : measurement.doubtful;
  }
  return result;
}

AccuracySummary summarise(std::vector<MeasurementResult> const& results) {
  AccuracySummary summary;
  std::map<MeasuredQuantity, std::vector<double>> errors;
  std::vector<double> fitted;
  std::size_t agreed = 0;
  std::size_t covered = 0;
  auto const count = [&](auto const& entry, bool as_measured) {
    if (!entry.in_gate()) {
      ++summary.left_out;
      return false;
    }
    ++summary.judged;
    agreed += as_measured ? 1 : 0;
    return true;
  };
  for (auto const& result : results) {
    for (auto const& fact : result.facts) count(fact, fact.agrees);
    for (auto const& point : result.points) {
      if (point.fitted && point.doubtful.empty()) {
        if (auto const error = point.error()) fitted.push_back(*error);
        continue;
      }
      if (!count(point, point.legal)) continue;
      auto const error = point.error();
      if (!error) {
        ++summary.unpredicted;
        continue;
      }
      errors[point.quantity].push_back(*error);
      covered += point.interval.holds(point.measured) ? 1 : 0;
    }
  }
  auto const of = [](std::vector<double> const& some) {
    if (some.empty()) return ErrorSummary{};
    return ErrorSummary{some.size(), median(some), quantile(some, 0.95), quantile(some, 1)};
  };
  summary.bandwidth = of(errors[MeasuredQuantity::Bandwidth]);
  summary.latency = of(errors[MeasuredQuantity::Latency]);
  summary.makespan = of(errors[MeasuredQuantity::Makespan]);
  summary.fitted = of(fitted);
  auto const predicted = summary.bandwidth.points + summary.latency.points + summary.makespan.points;
  if (summary.judged > 0)
    summary.legality_agreement = static_cast<double>(agreed) / static_cast<double>(summary.judged);
  if (predicted > 0) summary.interval_coverage = static_cast<double>(covered) / static_cast<double>(predicted);
  return summary;
}

}  // namespace lanewise
