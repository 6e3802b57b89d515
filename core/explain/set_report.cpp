#include "core/explain/set_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "core/io/json.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/search/set_planner.hpp"

namespace lanewise {
namespace {

struct StandardSet {
  std::string name;
  std::vector<Request> requests;
};

// The sets of single transfers, in the order of the report. The random numbers are the same every time.
std::vector<StandardSet> standard_sets(std::vector<PciId> const& gpus, Bytes bytes) {
  auto const count = gpus.size();
  std::mt19937 random(1);
  std::vector<std::size_t> permutation(count);
  for (std::size_t i = 0; i < count; ++i) permutation[i] = i;
  std::shuffle(permutation.begin(), permutation.end(), random);
  std::vector<StandardSet> sets{{"all-to-all", {}}, {"skewed all-to-all", {}}, {"incast", {}},
                                {"shift", {}},      {"far shift", {}},         {"permutation", {}}};
  auto const add = [&](std::size_t set, std::size_t from, std::size_t to, Bytes size) {
    auto& requests = sets[set].requests;
    requests.push_back({.id = fmt::format("t{}", requests.size()),
                        .from = gpus[from],
                        .to = gpus[to],
                        .bytes = size,
                        .any_mover = true});
  };
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      add(0, from, to, bytes);
      add(1, from, to, Bytes((bytes.value() << (random() % 5)) / 4));
      if (to == 0) add(2, from, to, bytes);
      if (to == (from + 1) % count) add(3, from, to, bytes);
      if (to == (from + count / 2) % count && count > 2) add(4, from, to, bytes);
      if (to == permutation[from]) add(5, from, to, bytes);
    }
  std::erase_if(sets, [](StandardSet const& set) { return set.requests.empty(); });
  return sets;
}

// All steps in sequence.
Plan in_sequence(Plan plan) {
  for (std::size_t i = 1; i < plan.steps.size(); ++i) plan.steps[i].order_only = {StepId(i - 1)};
  return plan;
}

// Rounds in sequence: in round k every GPU sends to the k-th GPU after it.
Plan in_shifts(Plan plan, std::vector<PciId> const& gpus) {
  auto const position = [&](Place const& place) {
    return static_cast<std::size_t>(std::find(gpus.begin(), gpus.end(), std::get<PciId>(place)) - gpus.begin());
  };
  std::map<std::size_t, std::vector<StepId>> rounds;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    rounds[(position(plan.steps[i].to) + gpus.size() - position(plan.steps[i].from)) % gpus.size()].push_back(
        StepId(i));
  std::vector<StepId> const* before = nullptr;
  for (auto const& [by, round] : rounds) {
    for (auto const step : round)
      if (before != nullptr) plan.steps[index(step)].order_only = *before;
    before = &round;
  }
  return plan;
}

bool all_known(Plan const& plan) {
  return std::all_of(plan.decisions.begin(), plan.decisions.end(),
                     [](Decision const& decision) { return decision.candidates[decision.chosen].time.has_value(); });
}

struct SimplePlan {
  std::string algorithm;
  std::vector<Plan> plans;  // more than one where it leaves something open: their mean counts
};

// The plans of a program that fixes no order: streams of one GPU wait for its engine as it happens.
std::vector<Plan> in_random_orders(Planner const& planner, std::vector<Request> requests) {
  constexpr int kRandomOrders = 9;
  std::mt19937 random(1);
  std::vector<Plan> plans;
  for (int i = 0; i < kRandomOrders; ++i) {
    std::shuffle(requests.begin(), requests.end(), random);
    plans.push_back(planner.plan(requests));
  }
  return plans;
}

// The algorithms that one would write by hand.
std::vector<SimplePlan> simple_plans(Model const& model, std::vector<Request> const& requests,
                                     std::vector<PciId> const& gpus) {
  Planner const planner(model);
  auto const each = planner.plan(requests);
  std::vector<SimplePlan> plans{{"all at once", in_random_orders(planner, requests)},
                                {"one after another", {in_sequence(each)}},
                                {"in shifts", {in_shifts(each, gpus)}}};
  for (auto const mechanism : {Mechanism::Nvlink, Mechanism::PcieP2p, Mechanism::HostStaged}) {
    auto only = requests;
    for (auto& request : only) request.only = mechanism;
    try {
      auto plan = planner.plan(only);
      if (all_known(plan)) plans.push_back({fmt::format("{} only", to_string(mechanism)), {std::move(plan)}});
    } catch (PlanError const&) {
      continue;  // not legal between all of them
    }
  }
  return plans;
}

SetResult result_of(Model const& model, std::string set, std::size_t transfers) {
  SetResult result;
  result.machine = model.machine().name;
  result.set = std::move(set);
  result.transfers = transfers;
  return result;
}

// Compares a plan with simple ones, the first of which is all at once.
SetResult set_result(SetResult result, Plan const& plan, std::vector<SimplePlan> const& simple, Model const& model,
                     Executor& executor) {
  auto const run = executor.run(plan);
  result.mode = run.mode;
  result.planned = run.makespan;
  auto const bound = lower_bound(plan, model);
  if (!bound) throw PlanError(fmt::format("nobody knows what bounds {}", result.set));
  result.bound = bound->makespan;
  for (auto const& [algorithm, others] : simple) {
    Seconds takes{0};
    for (auto const& other : others) takes += executor.run(other).makespan / static_cast<double>(others.size());
    if (result.at_once == Seconds(0)) result.at_once = takes;
    if (!result.algorithm.empty() && takes >= result.simple) continue;
    result.simple = takes;
    result.algorithm = algorithm;
  }
  return result;
}

// The others are sought for the machine.
bool is_simple(Algorithm algorithm) {
  return algorithm != Algorithm::PackedTrees && algorithm != Algorithm::TransferSet;
}

SetResult all_gather_result(SetResult result, Model const& model, std::vector<PciId> const& gpus, Bytes bytes,
                            Executor& executor) {
  Collective const collective{.op = CollectiveOp::AllGather,
                              .among = {gpus.begin(), gpus.end()},
                              .bytes = Bytes(bytes.value() * static_cast<std::int64_t>(gpus.size()))};
  auto plans = plans_of_collective(model, collective);
  auto const plan = plans.front();
  std::vector<SimplePlan> simple;
  for (auto& other : plans)
    if (is_simple(other.collective->algorithm))
      simple.push_back({std::string(to_string(other.collective->algorithm)), {std::move(other)}});
  auto const direct = std::find_if(simple.begin(), simple.end(), [](SimplePlan const& one) {
    return one.plans.front().collective->algorithm == Algorithm::Direct;
  });
  if (direct != simple.end()) std::rotate(simple.begin(), direct, direct + 1);
  return set_result(std::move(result), plan, simple, model, executor);
}

double at_share(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

std::vector<SetResult> evaluate_sets(Model const& model, Bytes bytes, Effort effort, MakeExecutor const& executor) {
  auto const gpus = model.machine().all(PciKind::Gpu);
  std::vector<SetResult> results;
  if (gpus.size() < 2) return results;
  auto const runs = executor(model);
  SetPlanner const planner(model);
  auto const add = [&](auto const& judge) {
    try {
      results.push_back(judge());
    } catch (PlanError const&) {
      return;  // no legal way, or a figure that nobody published
    }
  };
  for (auto const& [name, requests] : standard_sets(gpus, bytes))
    add([&, &name = name, &requests = requests] {
      return set_result(result_of(model, name, requests.size()), planner.plan(requests, {Objective::Makespan, effort}),
                        simple_plans(model, requests, gpus), model, *runs);
    });
  add([&] { return all_gather_result(result_of(model, "all-gather", gpus.size()), model, gpus, bytes, *runs); });
  return results;
}

SetSummary summarise(std::vector<SetResult> const& results) {
  std::vector<double> gaps;
  std::vector<double> gains;
  SetSummary summary{results.size(), 0, 0, 0, results.front(), results.front(), results.front()};
  for (auto const& result : results) {
    gaps.push_back(result.gap());
    gains.push_back(result.gain());
    if (result.gap() > summary.worst_gap.gap()) summary.worst_gap = result;
    if (result.gain() > summary.most_gain.gain()) summary.most_gain = result;
    if (result.regret() > summary.worst_regret.regret()) summary.worst_regret = result;
  }
  summary.median_gap = at_share(gaps, 0.5);
  summary.p90_gap = at_share(gaps, 0.9);
  summary.median_gain = at_share(gains, 0.5);
  return summary;
}

nlohmann::ordered_json set_report_json(std::vector<SetResult> const& results) {
  nlohmann::ordered_json json{{"lanewise", "set_report/1"}};
  if (!results.empty()) json["mode"] = results.front().mode;
  json["sets"] = nlohmann::ordered_json::array();
  for (auto const& result : results)
    json["sets"].push_back({{"machine", result.machine},
                            {"set", result.set},
                            {"transfers", result.transfers},
                            {"makespan_us", microseconds(result.planned)},
                            {"bound_us", microseconds(result.bound)},
                            {"gap", result.gap()},
                            {"at_once_us", microseconds(result.at_once)},
                            {"gain", result.gain()},
                            {"simple", result.algorithm},
                            {"simple_us", microseconds(result.simple)},
                            {"regret", result.regret()}});
  if (results.empty()) return json;
  auto const all = summarise(results);
  json["summary"] = {{"sets", all.sets},
                     {"median_gap", all.median_gap},
                     {"p90_gap", all.p90_gap},
                     {"worst_gap", all.worst_gap.gap()},
                     {"median_gain", all.median_gain},
                     {"worst_regret", all.worst_regret.regret()}};
  return json;
}

}  // namespace lanewise
