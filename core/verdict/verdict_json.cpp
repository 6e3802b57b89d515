#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/verdict/optimality_json.hpp"
#include "core/verdict/rival_json.hpp"
#include "core/verdict/transfer_run.hpp"
#include "lanewise/verdict/verdict.hpp"

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

nlohmann::ordered_json decision_json(VariantRun const& run, std::size_t i, bool measured) {
  auto const& decision = run.plan.decisions[i];
  auto const& chosen = decision.candidates[decision.chosen];
  auto const& regret = run.regrets[i];
  auto const step = transfer_run(decision, run.trace);
  nlohmann::ordered_json json{{"transfer", decision.transfer},
                              {"mechanism", to_string(chosen.way.mechanism)},
                              {"route", chosen.route},
                              {"bytes", step.bytes.value()},
                              {"time_us", microseconds(step.duration())},
                              {"bandwidth_GBps", gigabytes_per_second(step.rate())},
                              {"alternatives", regret.alternatives},
                              {"not_run", regret.not_run},
                              {"best", regret.best},
                              {"regret", regret.share()}};
  if (measured) add_measured(json, step, regret);
  return json;
}

nlohmann::ordered_json run_json(VariantRun const& run, ScenarioVerdict const& verdict) {
  nlohmann::ordered_json json{{"machine", run.machine}, {"variant", run.variant}, {"passed", verdict.passed(run)}};
  if (!run.failure.empty())
    json["failure"] = run.failure;
  else if (!run.skipped.empty())
    json["skipped"] = run.skipped;
  else
    add_optimality(json, run.trace.makespan, run.bound);
  if (run.ran() && run.trace.noise)
    json["makespan_noise_us"] = {microseconds(run.trace.noise->low), microseconds(run.trace.noise->high)};
  if (!run.timing_exclusion.empty()) json["not_judged"] = run.timing_exclusion;
  if (auto const where = run.started_nodes(); !where.empty()) json["nodes"] = where;
  if (!run.ran()) return json;
  add_collective(json, run.plan, run.trace.makespan);
  if (run.plan.collective) json["bytes"] = run.plan.collective->bytes.value();
  for (std::size_t i = 0; i < run.plan.decisions.size(); ++i)
    json["decisions"].push_back(decision_json(run, i, verdict.mode == "hw"));
  return json;
}

nlohmann::ordered_json to_json(ExpectationResult const& result) {
  nlohmann::ordered_json json{{"machine", result.machine}, {"variant", result.variant}, {"expected", result.what}};
  if (!result.key.empty()) json["key"] = result.key;
  if (!result.rules.empty()) json["rules"] = result.rules;
  json["passed"] = result.judged() ? nlohmann::ordered_json(result.passed) : nlohmann::ordered_json(nullptr);
  if (!result.judged()) json["not_judged"] = result.timing_exclusion;
  json["found"] = result.found;
  json["at"] = result.location();
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
    for (auto const& run : verdict.runs) item["runs"].push_back(run_json(run, verdict));
    item["results"] = nlohmann::ordered_json::array();
    for (auto const& result : verdict.results) item["results"].push_back(to_json(result));
    json["scenarios"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
