#include "core/verdict/both_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

enum class Agreement : std::uint8_t { Equal, WithinNoise, Different };

RivalResult const* rival_named(Regret const& regret, std::string const& way) {
  auto const found =
      std::find_if(regret.rivals.begin(), regret.rivals.end(), [&](RivalResult const& r) { return r.way == way; });
  return found == regret.rivals.end() ? nullptr : &*found;
}

// Whether hardware prefers a way that simulation does not, among those that ran in both modes.
Agreement agreement_of(Regret const& predicted, Regret const& measured) {
  if (measured.rivals.empty())  // a runs/1, which has only the fastest
    return predicted.best == measured.best ? Agreement::Equal : Agreement::Different;
  auto agreement = Agreement::Equal;
  for (auto const& rival : measured.rivals) {
    auto const* in_simulation = rival_named(predicted, rival.way);
    if (in_simulation == nullptr) continue;
    auto const there = in_simulation->standing();
    auto const here = rival.standing();
    if (here == Standing::Worse && there != Standing::Worse) return Agreement::Different;
    if (here == Standing::Better && there == Standing::Worse) return Agreement::Different;
    if (here == Standing::WithinNoise) agreement = Agreement::WithinNoise;
  }
  return agreement;
}

std::string regret_difference_text(Regret const& predicted, Regret const& measured) {
  if (auto const* rival = measured.better_rival(); rival != nullptr && measured.share() < kSameTime && rival->end_ratio)
    return fmt::format("{}: best in simulation {}, on hardware {}, which ends it {:.1f} % earlier", measured.transfer,
                       predicted.best, measured.best, (1 - rival->end_ratio->value) * 100);
  return fmt::format("{}: best in simulation {}, on hardware {}; regret {:.1f} %", measured.transfer, predicted.best,
                     measured.best, measured.share() * 100);
}

BothModes pair_of(ScenarioVerdict const& verdict, VariantRun const& predicted, VariantRun const& measured) {
  BothModes both;
  both.scenario = verdict.scenario;
  both.machine = predicted.machine;
  both.variant = predicted.variant;
  both.comparison = compare(predicted.trace, measured.trace);
  both.timing_exclusion = measured.timing_exclusion;
  if (!both.timing_exclusion.empty()) return both;
  for (std::size_t i = 0; i < measured.regrets.size(); ++i) {
    auto const& here = measured.regrets[i];
    auto const& there = predicted.regrets[i];
    if (here.alternatives == 0) continue;
    ++both.decisions;
    auto const agreement = agreement_of(there, here);
    both.equal_decisions += agreement == Agreement::Equal ? 1 : 0;
    both.within_noise += agreement == Agreement::WithinNoise ? 1 : 0;
    if (agreement != Agreement::Different) continue;
    both.worst_regret = std::max(both.worst_regret, here.share());
    both.different.push_back(regret_difference_text(there, here));
  }
  return both;
}

}  // namespace

std::vector<BothModes> both_modes(std::vector<ScenarioVerdict> const& predicted,
                                  std::vector<ScenarioVerdict> const& measured) {
  std::vector<BothModes> runs;
  for (std::size_t i = 0; i < std::min(predicted.size(), measured.size()); ++i)
    for (std::size_t k = 0; k < std::min(predicted[i].runs.size(), measured[i].runs.size()); ++k)
      if (predicted[i].runs[k].ran() && measured[i].runs[k].ran() &&
          predicted[i].runs[k].machine == measured[i].runs[k].machine)
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
    summary.within_noise += run.within_noise;
    summary.worst_regret = std::max(summary.worst_regret, run.worst_regret);
  }
  return summary;
}

nlohmann::ordered_json both_modes_json(std::vector<BothModes> const& runs) {
  auto const summary = summarise(runs);
  nlohmann::ordered_json json{{"decisions", summary.decisions},
                              {"equal_decisions", summary.equal_decisions},
                              {"within_noise", summary.within_noise},
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
                            {"within_noise", run.within_noise},
                            {"worst_regret", run.worst_regret},
                            {"different", run.different},
                            {"not_judged", run.timing_exclusion},
                            {"comparison", comparison_json(run.comparison)}});
  return json;
}

}  // namespace lanewise
