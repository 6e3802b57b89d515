#include "core/verdict/recorded_run.hpp"

#include <fmt/format.h>

#include "core/io/json.hpp"

namespace lanewise {

nlohmann::ordered_json recorded_runs_json(std::vector<ScenarioVerdict> const& verdicts) {
  nlohmann::ordered_json json{{"lanewise", "runs/1"}, {"runs", nlohmann::ordered_json::array()}};
  for (auto const& verdict : verdicts)
    for (auto const& run : verdict.runs) {
      if (!run.ran()) continue;
      auto regrets = nlohmann::ordered_json::array();
      for (auto const& regret : run.regrets)
        regrets.push_back({{"transfer", regret.transfer},
                           {"alternatives", regret.alternatives},
                           {"not_run", regret.not_run},
                           {"best", regret.best},
                           {"chosen_us", microseconds(regret.chosen_makespan)},
                           {"best_us", microseconds(regret.best_makespan)}});
      json["runs"].push_back({{"scenario", verdict.scenario},
                              {"variant", run.variant},
                              {"trace", to_json(run.trace)},
                              {"regrets", std::move(regrets)}});
    }
  return json;
}

std::vector<RecordedRun> recorded_runs_from_json(nlohmann::ordered_json const& json) {
  try {
    constexpr std::int64_t kMaxAlternatives = 1'000'000;
    std::vector<RecordedRun> runs;
    for (auto const& item : json.at("runs")) {
      RecordedRun run{item.at("scenario"), item.at("variant"), trace_from_json(item.at("trace")), {}};
      for (auto const& regret : item.at("regrets"))
        run.regrets.push_back(
            {regret.at("transfer"), static_cast<std::size_t>(whole_number(regret.at("alternatives"), kMaxAlternatives)),
             regret.at("best"), from_microseconds(regret.at("chosen_us")), from_microseconds(regret.at("best_us")),
             regret.at("not_run").get<std::vector<std::string>>()});
      runs.push_back(std::move(run));
    }
    return runs;
  } catch (nlohmann::ordered_json::exception const& error) {
    throw InputError(std::string("not a file of runs: ") + error.what());
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
