#pragma once
#include <string>
#include <vector>

#include "core/verdict/baseline.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// Verdicts for the summary page of a CI system: how many pass, errors, failures, changes, then a table of the runs.
std::string verdict_markdown(std::vector<ScenarioVerdict> const& verdicts,
                             BaselineComparison const* comparison = nullptr);

}  // namespace lanewise
