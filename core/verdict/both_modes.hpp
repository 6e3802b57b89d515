#pragma once
// One scenario in simulation and on hardware: how far the prediction was off, step by step, and whether both find the
// same way best.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/verdict/comparison.hpp"
#include "core/verdict/scenario_check.hpp"

namespace lanewise {

// One variant on one machine that ran in both.
struct BothModes {
  std::string scenario, machine, variant;
  Comparison comparison;               // predicted, measured
  std::size_t decisions = 0;           // with an alternative that was run in both
  std::size_t equal = 0;               // where the same way was the fastest in both
  double worst_regret = 0;             // on hardware, of the other decisions
  std::vector<std::string> different;  // those, for people
  std::string untimed;                 // why its times count for nothing here; empty: they do
};

// Pairs the verdicts of the two modes, which are of the same scenarios in the same order.
std::vector<BothModes> both_modes(std::vector<ScenarioVerdict> const& predicted,
                                  std::vector<ScenarioVerdict> const& measured);

std::string both_modes_text(std::vector<BothModes> const& runs);
nlohmann::ordered_json both_modes_json(std::vector<BothModes> const& runs);

}  // namespace lanewise
