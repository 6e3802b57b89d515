#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/verdict/optimality_json.hpp"
#include "core/verdict/rival_json.hpp"
#include "core/verdict/transfer_run.hpp"
#include "core/verdict/verdict.hpp"

namespace lanewise {
namespace {

// What is known of a measured decision besides its figures: how it stands against each rival, and the noise.
void add_measured(nlohmann::ordered_json& json, StepTrace const& step, Regret const& regret) {
  if (step.spread) json["spread"] = *step.spread;
  if (regret.rivals.empty()) return;
  json["standing"] = to_string(regret.standing());
  for (auto const& rival : regret.rivals) json["rivals"].push_back(to_json(rival));
}

nlohmann::ordered_json to_json(CheckError const& error) {
  nlohmann::ordered_json json;
  if (!error.machine.empty()) json["machine"] = error.machine;
  json["file"] = error.pos.file;
  if (error.pos.line > 0) json["line"] = error.pos.line;
  json["message"] = error.message;
  return json;
}

}  // namespace

nlohmann::ordered_json verdict_json(std::vector<ScenarioVerdict> const& verdicts) {
  nlohmann::ordered_json json{{"lanewise", "verdict/1"}};
  json["passed"] = std::all_of(verdicts.begin(), verdicts.end(), [](auto const& verdict) { return verdict.passed(); });
  json["scenarios"] = nlohmann::ordered_json::array();
  for (auto const& verdict : verdicts) {
    nlohmann::ordered_json item{
        {"scenario", verdict.scenario}, {"title", verdict.title}, {"mode", verdict.mode}, {"passed", verdict.passed()}};
    if (!verdict.pos.file.empty()) item["file"] = verdict.pos.file;
    for (auto const& error : verdict.errors) item["errors"].push_back(to_json(error));
    for (auto const& run : verdict.runs) {
      nlohmann::ordered_json entry{{"machine", run.machine}, {"variant", run.variant}, {"passed", verdict.passed(run)}};
      if (!run.failure.empty())
        entry["failure"] = run.failure;
      else if (!run.skipped.empty())
        entry["skipped"] = run.skipped;
      else
        add_optimality(entry, run.trace.makespan, run.bound);
      if (run.ran() && run.trace.noise)
        entry["makespan_noise_us"] = {microseconds(run.trace.noise->low), microseconds(run.trace.noise->high)};
      if (!run.timing_exclusion.empty()) entry["not_judged"] = run.timing_exclusion;
      if (auto const where = run.started_nodes(); !where.empty()) entry["nodes"] = where;
      if (run.ran()) add_collective(entry, run.plan, run.trace.makespan);
      if (run.ran() && run.plan.collective) entry["bytes"] = run.plan.collective->bytes.value();
      for (std::size_t i = 0; run.ran() && i < run.plan.decisions.size(); ++i) {
        auto const& decision = run.plan.decisions[i];
        auto const& chosen = decision.candidates[decision.chosen];
        auto const step = transfer_run(decision, run.trace);
        entry["decisions"].push_back({{"transfer", decision.transfer},
                                      {"mechanism", to_string(chosen.way.mechanism)},
                                      {"route", chosen.route},
                                      {"bytes", step.bytes.value()},
                                      {"time_us", microseconds(step.duration())},
                                      {"bandwidth_GBps", gigabytes_per_second(step.rate())},
                                      {"alternatives", run.regrets[i].alternatives},
                                      {"not_run", run.regrets[i].not_run},
                                      {"best", run.regrets[i].best},
                                      {"regret", run.regrets[i].share()}});
        if (verdict.mode == "hw") add_measured(entry["decisions"].back(), step, run.regrets[i]);
      }
      item["runs"].push_back(std::move(entry));
    }
    item["results"] = nlohmann::ordered_json::array();
    for (auto const& result : verdict.results) {
      nlohmann::ordered_json entry{{"machine", result.machine}, {"variant", result.variant}, {"expected", result.what}};
      if (!result.key.empty()) entry["key"] = result.key;
      if (!result.rules.empty()) entry["rules"] = result.rules;
      entry["passed"] = result.judged() ? nlohmann::ordered_json(result.passed) : nlohmann::ordered_json(nullptr);
      if (!result.judged()) entry["not_judged"] = result.timing_exclusion;
      entry["found"] = result.found;
      entry["at"] = result.location();
      item["results"].push_back(std::move(entry));
    }
    json["scenarios"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
