#include "core/verdict/recorded_run.hpp"

#include <fmt/format.h>

#include "core/io/json.hpp"
#include "core/verdict/rival_json.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(Regret const& regret) {
  Json json{{"transfer", regret.transfer},
            {"alternatives", regret.alternatives},
            {"not_run", regret.not_run},
            {"best", regret.best},
            {"chosen_us", microseconds(regret.chosen_makespan)},
            {"best_us", microseconds(regret.best_makespan)},
            {"rivals", Json::array()}};
  for (auto const& rival : regret.rivals) json["rivals"].push_back(to_json(rival));
  return json;
}

Regret regret_from_json(Json const& json) {
  constexpr std::int64_t kMaxAlternatives = 1'000'000;
  Regret regret{json.at("transfer"),
                static_cast<std::size_t>(whole_number(json.at("alternatives"), kMaxAlternatives)),
                json.at("best"),
                from_microseconds(json.at("chosen_us")),
                from_microseconds(json.at("best_us")),
                json.at("not_run").get<std::vector<std::string>>()};
  if (json.contains("rivals"))
    for (auto const& rival : json.at("rivals")) regret.rivals.push_back(rival_from_json(rival));
  return regret;
}

}  // namespace

nlohmann::ordered_json recorded_runs_json(std::vector<ScenarioVerdict> const& verdicts) {
  Json json{{"lanewise", kRunsSchemas.front()}, {"runs", Json::array()}};
  for (auto const& verdict : verdicts)
    for (auto const& run : verdict.runs) {
      if (!run.ran()) continue;
      auto regrets = Json::array();
      for (auto const& regret : run.regrets) regrets.push_back(to_json(regret));
      json["runs"].push_back({{"scenario", verdict.scenario},
                              {"variant", run.variant},
                              {"trace", to_json(run.trace)},
                              {"regrets", std::move(regrets)},
                              {"real_time_us", microseconds(run.real_time)}});
    }
  return json;
}

std::vector<RecordedRun> read_recorded_runs(SourceText const& source) {
  return recorded_runs_from_json(parse_json(source, kRunsSchemas));
}

std::vector<RecordedRun> recorded_runs_from_json(nlohmann::ordered_json const& json) {
  try {
    std::vector<RecordedRun> runs;
    for (auto const& item : json.at("runs")) {
      RecordedRun run{item.at("scenario"), item.at("variant"), trace_from_json(item.at("trace")), {}};
      for (auto const& regret : item.at("regrets")) run.regrets.push_back(regret_from_json(regret));
      if (item.contains("real_time_us")) run.real_time = from_microseconds(item.at("real_time_us"));
      runs.push_back(std::move(run));
    }
    return runs;
  } catch (nlohmann::ordered_json::exception const& error) {
    throw InputError("not a file of runs: " + reason_of(error));
  }
}

RecordedRun const& recorded_run(std::vector<RecordedRun> const& runs, std::string const& scenario,
                                std::string const& variant, Plan const& plan) {
  std::string other;
  for (auto const& run : runs) {
    if (run.scenario != scenario || run.variant != variant) continue;
    if (run.trace.fingerprint != plan.fingerprint) {
      other = fmt::format("it was run on '{}' described or set otherwise", run.trace.machine);
      continue;
    }
    bool same = run.trace.steps.size() == plan.steps.size();
    for (std::size_t i = 0; same && i < plan.steps.size(); ++i)
      same = run.trace.steps[i].transfer == plan.steps[i].transfer && run.trace.steps[i].bytes == plan.steps[i].bytes;
    if (same) return run;
    other = "it was run by another plan";
  }
  throw PlanError(fmt::format("the recorded runs have none of '{}'{}{}", scenario,
                              variant.empty() ? "" : fmt::format(" ({})", variant), other.empty() ? "" : ": " + other));
}

}  // namespace lanewise
