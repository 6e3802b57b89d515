#pragma once
#include <string>
#include <vector>

#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// A table with a row for each run, then every failure with its reason, then a summary line.
std::string verdict_text(std::vector<ScenarioVerdict> const& verdicts);

// The table's columns, and a run's row of it.
std::vector<std::string> verdict_columns();
std::vector<std::string> verdict_row(ScenarioVerdict const& verdict, VariantRun const& run);

}  // namespace lanewise
