#include "core/accuracy/point_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <span>

#include "core/estimate/plan_parameters.hpp"
#include "core/machine/path_class.hpp"
#include "core/measurement/measured_transfer.hpp"
#include "core/measurement/session_noise.hpp"
#include "core/model/resources/figures.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/libraries/library.hpp"

namespace lanewise {
namespace {

// Orders of issue that are tried where nobody fixes one: their 5th and 95th percentiles need no fewer.
constexpr int kOrders = 41;

class PointEvaluator {
 public:
  PointEvaluator(ModelPool& pool, ModelPool::Entry& entry, MeasuredSeries const& series)
      : pool_(pool), entry_(entry), series_(series) {}

  PointResult evaluate(MeasuredPoint const& point) {
    result_ = {};
    ways_.clear();
    result_.series = series_.name;
    result_.quantity = series_.quantity;
    for (auto const& flow : point.flows) result_.bytes = std::max(result_.bytes, point.bytes_of(flow));
    result_.measured = point.value;
    result_.pos = point.pos;
    result_.generation = gpu_generation(entry_.model.machine(), point);
    result_.at_once = at_once(point);
    if (series_.collective) {
      collective(point);
      return result_;
    }
    result_.what = result_.at_once == AtOnce::Several
                       ? fmt::format("{} at once", point.flows.size())
                       : fmt::format("{} {} {}", point.flows[0].from, result_.at_once == AtOnce::One ? ">" : "<>",
                                     point.flows[0].to);
    auto const requests = requests_of(entry_.model.machine(), series_, point);
    result_.noise = noise_of(pool_.measurement(), entry_.model.machine(), point, requests);
    if (!allowed(requests)) return result_;
    if (requests.size() == 1)
      alone(requests.front());
    else
      together(requests);
    return result_;
  }

 private:
  // What the library does, by its plan.
  void collective(MeasuredPoint const& point) {
    auto const& measured = *series_.collective;
    result_.bytes = point.bytes;
    result_.what = fmt::format("{} among {}", to_string(measured.op), measured.among.size());
    result_.library = to_string(measured.library);
    Collective wanted{measured.op, {}, point.bytes, Algorithm::Auto, measured.root};
    for (auto const& name : measured.among) wanted.among.push_back(place_at(entry_.model.machine(), name, point.pos));
    try {
      auto const plan = plan_by_library(entry_.model, wanted, measured.library);
      auto const& choice = *plan.library;
      result_.group = text_of(choice);
      auto const cleared = clearing_time(entry_.model.machine(), wanted, measured.cleared);
      auto const figure_of = [&](Seconds exchanged) {
        auto const took = exchanged + cleared;
        if (measured.figure == CollectiveFigure::Time) return took.value();
        if (measured.figure == CollectiveFigure::AlgorithmBandwidth) return (wanted.bytes / took).value();
        return bus_bandwidth(wanted, took).value();
      };
      auto const figure_with = [&](Model const& model) { return figure_of(estimate(model, plan.steps).makespan); };
      auto const time = estimate(entry_.model, plan.steps).makespan;
      result_.predicted = figure_of(time);
      result_.binding = result_.group;
      if (choice.channels > 0) result_.binding += fmt::format(", {} channels", choice.channels);
      if (pool_.with_ranges()) result_.interval = entry_.intervals.of(figure_with, parameters_of(plan, entry_.model));
      if (pool_.with_possible()) result_.possible = figure_of(least_time(wanted, time));
      if (pool_.with_changes()) result_.near_change = is_near_change(wanted, result_.group);
    } catch (PlanError const& error) {
      result_.binding = error.what();
    }
  }

  static std::string text_of(LibraryChoice const& choice) {
    return fmt::format("{} {}", choice.algorithm, choice.protocol);
  }

  // Whether the library does another thing with half or twice the bytes.
  [[nodiscard]] bool is_near_change(Collective const& collective, std::string const& choice) {
    entry_.library_choices[{&series_, collective.bytes}] = choice;
    auto other = collective;
    for (auto const bytes : {collective.bytes / 2, collective.bytes * 2}) {
      other.bytes = bytes;
      if (auto const& there = choice_for(other); !there.empty() && there != choice) return true;
    }
    return false;
  }

  std::string const& choice_for(Collective const& collective) {
    auto const [entry, is_new] = entry_.library_choices.try_emplace({&series_, collective.bytes});
    if (!is_new) return entry->second;
    try {
      entry->second = text_of(*plan_by_library(entry_.model, collective, series_.collective->library).library);
    } catch (PlanError const&) {  // stays empty
    }
    return entry->second;
  }

  // What a GPU takes to clear so many times the size of its own memory. Throws PlanError where its memory's rate is not
  // known.
  static Seconds clearing_time(Machine const& machine, Collective const& collective, int times) {
    if (times == 0) return Seconds(0);
    auto const* gpu = std::get_if<PciId>(&collective.among.front());
    auto const* part = gpu != nullptr ? machine.part_of(*gpu) : nullptr;
    if (part == nullptr || !part->gpu.memory_bandwidth)
      throw PlanError(fmt::format("'{}' clears its memory, whose bandwidth is not known",
                                  machine.name_of(collective.among.front())));
    return collective.bytes * times / (*part->gpu.memory_bandwidth * figures::device_memory_efficiency(part));
  }

  // By the best plan of our own, where it is faster than the library's.
  [[nodiscard]] Seconds least_time(Collective const& collective, Seconds of_library) const {
    try {
      auto const best = plan_collective(entry_.model, collective);
      return std::min(of_library, estimate(entry_.model, best.steps, best.folding).makespan);
    } catch (PlanError const&) {
      return of_library;
    }
  }

  // Chooses a way for every flow. Returns false if the rules refuse one of them.
  bool allowed(std::vector<Request> const& requests) {
    for (auto const& request : requests) {
      try {
        auto const choice = entry_.planner.choose(request);
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
                                path_between(entry_.model.machine(), request.from, request.to));
  }

  void alone(Request const& request) {
    auto const& way = ways_.front();
    auto const demand = entry_.model.lower(request.from, request.to, request.bytes, request.op, way);
    auto const cost = entry_.model.cost(demand, request.bytes);
    if (!cost) {
      result_.binding = fmt::format("nobody says {}", entry_.model.resources().at(*demand.unknown).missing);
      return;
    }
    result_.binding = entry_.model.text_of_binding(*cost);
    result_.predicted = predicted_alone(entry_.model, series_, request, way);
    if (!pool_.with_ranges()) return;
    result_.interval = entry_.intervals.of(
        [&](Model const& model) { return predicted_alone(model, series_, request, way).value_or(0); });
  }

  void together(std::vector<Request> const& requests) {
    std::vector<Plan> plans;  // one for each order of issue that is tried
    try {
      if (!series_.program) {
        plans.push_back(entry_.planner.plan(requests));
      } else {
        std::mt19937 random;
        auto const orders = series_.program->issue == IssueOrder::Unordered ? kOrders : 1;
        for (int i = 0; i < orders; ++i)
          plans.push_back(entry_.planner.plan(issued(*series_.program, requests, random)));
      }
    } catch (PlanError const& error) {
      result_.legal = false;
      result_.binding = error.what();
      return;
    }
    auto* executor = pool_.executor(entry_, entry_.model);
    if (executor == nullptr) {
      result_.binding = "several transfers at once need the simulator";
      return;
    }
    try {
      auto const trace = executor->run(plans.front());
      result_.binding = trace.resources.empty() ? "nothing" : trace.resources.front().name;
      predict(requests, plans, figure_together(requests, trace));
    } catch (PlanError const& error) {
      result_.binding = error.what();
    }
  }

  // The mean over the orders of issue. Its range is that of the parameters and that of the orders.
  void predict(std::vector<Request> const& requests, std::vector<Plan> const& plans, double first) {
    std::vector<double> figures{first};
    for (auto const& plan : std::span(plans).subspan(1))
      figures.push_back(figure_together(requests, pool_.executor(entry_, entry_.model)->run(plan)));
    std::sort(figures.begin(), figures.end());
    auto const mean = std::accumulate(figures.begin(), figures.end(), 0.0) / static_cast<double>(figures.size());
    result_.predicted = mean;
    if (!pool_.with_ranges()) return;
    auto const run = [&](Model const& model) {
      auto* other = pool_.executor(entry_, model);
      return other == nullptr ? 0.0 : figure_together(requests, other->run(plans.front()));
    };
    auto const range = entry_.intervals.of(run, parameters_of(plans.front(), entry_.model));
    auto const last = static_cast<double>(figures.size() - 1);
    auto const at = [&](double share) { return figures[static_cast<std::size_t>(std::lround(share * last))]; };
    auto const wider = [](double a, double b) { return std::exp(std::hypot(std::log(a), std::log(b))); };
    result_.interval = {mean / wider(first / range.low, mean / std::min(mean, at(0.05))),
                        mean * wider(range.high / first, std::max(mean, at(0.95)) / mean)};
  }

  // The figure of all flows, or of the first one while the others run.
  [[nodiscard]] double figure_together(std::vector<Request> const& requests, Trace const& trace) const {
    if (series_.quantity != MeasuredQuantity::Bandwidth) return trace.makespan.value();
    if (series_.program) return program_rate(*series_.program, requests, trace);
    Bytes bytes{0};
    for (auto const& request : requests) bytes += request.bytes;
    if (!series_.of_first) return (bytes / trace.makespan).value();
    auto const& first = requests.front();
    Seconds end{0};
    for (auto const& step : trace.steps)
      if (step.transfer == first.id) end = std::max(end, step.end);
    return (first.bytes / end).value();
  }

  ModelPool& pool_;
  ModelPool::Entry& entry_;
  MeasuredSeries const& series_;
  PointResult result_;
  std::vector<Way> ways_;
};

}  // namespace

PointResult evaluate_point(ModelPool& pool, ModelPool::Entry& entry, MeasuredSeries const& series,
                           MeasuredPoint const& point) {
  return PointEvaluator(pool, entry, series).evaluate(point);
}

}  // namespace lanewise
