#include "core/verdict/both_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

BothModes pair_of(ScenarioVerdict const& verdict, VariantRun const& predicted, VariantRun const& measured) {
  BothModes both{verdict.scenario,
                 predicted.machine,
                 predicted.variant,
                 compare(predicted.trace, measured.trace),
                 0,
                 0,
                 0,
                 {},
                 measured.timing_exclusion};
  if (!both.timing_exclusion.empty()) return both;
  for (std::size_t i = 0; i < measured.regrets.size(); ++i) {
    auto const& here = measured.regrets[i];
    auto const& there = predicted.regrets[i];
    if (here.alternatives == 0) continue;
    ++both.decisions;
    if (here.best == there.best) {
      ++both.equal_decisions;
      continue;
    }
    both.worst_regret = std::max(both.worst_regret, here.share());
    both.different.push_back(fmt::format("{}: best in simulation {}, on hardware {}; regret {:.1f} %", here.transfer,
                                         there.best, here.best, here.share() * 100));
  }
  return both;
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

BothModesSummary summarise(std::vector<BothModes> const& runs) {
  BothModesSummary summary;
  for (auto const& run : runs) {
    if (!run.timing_exclusion.empty()) continue;
    for (auto const& step : run.comparison.steps) summary.errors.push_back(std::abs(step.error()));
    summary.decisions += run.decisions;
    summary.equal_decisions += run.equal_decisions;
    summary.worst_regret = std::max(summary.worst_regret, run.worst_regret);
  }
  return summary;
}

nlohmann::ordered_json both_modes_json(std::vector<BothModes> const& runs) {
  auto const summary = summarise(runs);
  nlohmann::ordered_json json{{"decisions", summary.decisions},
                              {"equal_decisions", summary.equal_decisions},
                              {"worst_regret", summary.worst_regret}};
  if (!summary.errors.empty()) {
    json["median_error"] = median(summary.errors);
    json["p95_error"] = quantile(summary.errors, 0.95);
  }
  json["runs"] = nlohmann::ordered_json::array();
  for (auto const& run : runs)
    json["runs"].push_back({{"scenario", run.scenario},
                            {"machine", run.machine},
                            {"variant", run.variant},
                            {"decisions", run.decisions},
                            {"equal_decisions", run.equal_decisions},
                            {"worst_regret", run.worst_regret},
                            {"different", run.different},
                            {"not_judged", run.timing_exclusion},
                            {"comparison", comparison_json(run.comparison)}});
  return json;
}

}  // namespace lanewise
