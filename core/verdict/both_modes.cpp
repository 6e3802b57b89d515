#include "core/verdict/both_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

BothModes pair_of(ScenarioVerdict const& verdict, VariantRun const& predicted, VariantRun const& measured) {
  BothModes both{
      verdict.scenario, predicted.machine, predicted.variant, compare(predicted.trace, measured.trace), 0, 0, 0, {},
      measured.untimed};
  if (!both.untimed.empty()) return both;
  for (std::size_t i = 0; i < measured.regrets.size(); ++i) {
    auto const& here = measured.regrets[i];
    auto const& there = predicted.regrets[i];
    if (here.alternatives == 0) continue;
    ++both.decisions;
    if (here.best == there.best) {
      ++both.equal;
      continue;
    }
    both.worst_regret = std::max(both.worst_regret, here.share());
    both.different.push_back(fmt::format("{}: best in simulation {}, on hardware {}; regret {:.1f} %", here.transfer,
                                         there.best, here.best, here.share() * 100));
  }
  return both;
}

struct Totals {
  std::vector<double> errors;  // of steps, absolute
  std::size_t decisions = 0, equal = 0;
  double worst_regret = 0;
};
Totals totals_of(std::vector<BothModes> const& runs) {
  Totals totals;
  for (auto const& run : runs) {
    if (!run.untimed.empty()) continue;
    for (auto const& step : run.comparison.steps) totals.errors.push_back(std::abs(step.error()));
    totals.decisions += run.decisions;
    totals.equal += run.equal;
    totals.worst_regret = std::max(totals.worst_regret, run.worst_regret);
  }
  return totals;
}

}  // namespace

std::vector<BothModes> both_modes(std::vector<ScenarioVerdict> const& predicted,
                                  std::vector<ScenarioVerdict> const& measured) {
  std::vector<BothModes> runs;
  for (std::size_t i = 0; i < std::min(predicted.size(), measured.size()); ++i)
    for (std::size_t k = 0; k < std::min(predicted[i].runs.size(), measured[i].runs.size()); ++k)
      if (predicted[i].runs[k].ran() && measured[i].runs[k].ran())
        runs.push_back(pair_of(predicted[i], predicted[i].runs[k], measured[i].runs[k]));
  return runs;
}

std::string both_modes_text(std::vector<BothModes> const& runs) {
  std::string text;
  for (auto const& run : runs) {
    text += fmt::format("{} on {}{}\n{}", run.scenario, run.machine,
                        run.variant.empty() ? "" : fmt::format(" ({})", run.variant), comparison_text(run.comparison));
    for (auto const& line : run.different) text += "  " + line + "\n";
    if (!run.untimed.empty()) text += fmt::format("these times are not judged ({})\n", run.untimed);
    text += "\n";
  }
  auto const totals = totals_of(runs);
  if (runs.empty()) return text + "nothing ran in both modes\n";
  if (totals.errors.empty())
    return text + fmt::format("{} runs in both modes, none judged by its times\n", runs.size());
  return text + fmt::format(
                    "{} steps: median error {:.1f} %, p95 {:.1f} %; the fastest way is the same in both modes in "
                    "{} of {} decisions, regret on hardware elsewhere at most {:.1f} %\n",
                    totals.errors.size(), median(totals.errors) * 100, quantile(totals.errors, 0.95) * 100,
                    totals.equal, totals.decisions, totals.worst_regret * 100);
}

nlohmann::ordered_json both_modes_json(std::vector<BothModes> const& runs) {
  auto const totals = totals_of(runs);
  nlohmann::ordered_json json{
      {"decisions", totals.decisions}, {"equal_decisions", totals.equal}, {"worst_regret", totals.worst_regret}};
  if (!totals.errors.empty()) {
    json["median_error"] = median(totals.errors);
    json["p95_error"] = quantile(totals.errors, 0.95);
  }
  json["runs"] = nlohmann::ordered_json::array();
  for (auto const& run : runs)
    json["runs"].push_back({{"scenario", run.scenario},
                            {"machine", run.machine},
                            {"variant", run.variant},
                            {"decisions", run.decisions},
                            {"equal_decisions", run.equal},
                            {"worst_regret", run.worst_regret},
                            {"different", run.different},
                            {"not_judged", run.untimed},
                            {"comparison", comparison_json(run.comparison)}});
  return json;
}

}  // namespace lanewise
