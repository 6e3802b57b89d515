#pragma once
// One scenario in simulation and on hardware: how far the prediction was off step by step, and whether both modes find
// the same way fastest.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/verdict/comparison.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// One variant on one machine that ran in both modes.
struct BothModes {
  std::string scenario, machine, variant;
  Comparison comparison;               // predicted, measured
  std::size_t decisions = 0;           // with at least one alternative that ran on hardware
  std::size_t equal_decisions = 0;     // both modes prefer the same way
  std::size_t within_noise = 0;        // hardware does not settle which way is best
  double worst_regret = 0;             // on hardware, of the other decisions
  std::vector<std::string> different;  // a sentence for each of the other decisions
  std::string timing_exclusion;        // why its times are not counted; empty: they are
};

// Over the runs whose times count.
struct BothModesSummary {
  std::vector<double> errors;  // of steps, absolute: 0.05 is 5 %
  std::size_t decisions = 0, equal_decisions = 0, within_noise = 0;
  double worst_regret = 0;
};

// Pairs the verdicts of the two modes, which must be of the same scenarios in the same order.
std::vector<BothModes> both_modes(std::vector<ScenarioVerdict> const& predicted,
                                  std::vector<ScenarioVerdict> const& measured);
BothModesSummary summarise(std::vector<BothModes> const& runs);

nlohmann::ordered_json both_modes_json(std::vector<BothModes> const& runs);

}  // namespace lanewise
