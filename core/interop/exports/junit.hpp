#pragma once
// Verdicts as JUnit XML, which CI systems show.
#include <string>
#include <vector>

#include "core/verdict/scenario_check.hpp"

namespace lanewise {

// A suite a scenario, a case an expectation (and one for a run that had no plan).
std::string junit_xml(std::vector<ScenarioVerdict> const& verdicts);

}  // namespace lanewise
