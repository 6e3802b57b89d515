#include "lanewise/explain/run_explanation.hpp"

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/verdict/optimality_json.hpp"

namespace lanewise {
RunExplanation explain_run(Plan const& plan, Trace const& trace, Model const& model, Replanner const& replanner) {
  auto path = critical_path(plan, trace, model);
  auto wider = upgrades(plan, trace, path, model, replanner);
  return {plan,
          trace,
          lower_bound(plan, model),
          std::move(path),
          phases_of(plan, trace, model),
          std::move(wider),
          run_unordered(plan, model, replanner.executor)};
}

nlohmann::ordered_json why_run_json(RunExplanation const& explanation, Machine const& machine) {
  nlohmann::ordered_json json{{"lanewise", "why_run/1"}, {"machine", machine.name}, {"mode", explanation.trace.mode}};
  add_optimality(json, explanation.trace.makespan, explanation.bound);
  add_collective(json, explanation.plan, explanation.trace.makespan);
  json["critical_path"] = nlohmann::ordered_json::array();
  for (auto const& entry : explanation.path) {
    auto const& step = explanation.plan.steps[index(entry.step)];
    nlohmann::ordered_json item{{"step", index(entry.step)},
                                {"transfer", step.transfer},
                                {"from", machine.name_of(step.from)},
                                {"to", machine.name_of(step.to)},
                                {"waited_for", to_string(entry.waited)}};
    if (!entry.engine.empty()) item["engine"] = entry.engine;
    item["start_us"] = microseconds(entry.start);
    item["end_us"] = microseconds(entry.end);
    item["alone_us"] = microseconds(entry.alone);
    if (!entry.shared.empty()) item["slowed_by"] = entry.shared;
    json["critical_path"].push_back(std::move(item));
  }
  json["phases"] = nlohmann::ordered_json::array();
  for (auto const& phase : explanation.phases) {
    nlohmann::ordered_json item{{"start_us", microseconds(phase.start)}, {"end_us", microseconds(phase.end)}};
    if (phase.kind) item.update({{"busiest", phase.busiest}, {"kind", to_string(*phase.kind)}});
    item["utilisation"] = phase.utilisation;
    item["moving_GBps"] = gigabytes_per_second(phase.rate);
    item["gpus_computing"] = phase.computing;
    json["phases"].push_back(std::move(item));
  }
  json["wider"] = nlohmann::ordered_json::array();
  for (auto const& wider : explanation.upgrades)
    json["wider"].push_back({{"what", wider.what},
                             {"times", kUpgradeFactor},
                             {"share_of_bound", wider.share},
                             {"bound_ratio", wider.bound},
                             {"run_ratio", wider.run}});
  if (auto const& any = explanation.unordered)
    json["unordered"] = {{"mean_us", microseconds(any->mean)},
                         {"fastest_us", microseconds(any->fastest)},
                         {"slowest_us", microseconds(any->slowest)},
                         {"gain", any->mean / explanation.trace.makespan}};
  return json;
}

}  // namespace lanewise
