#pragma once
// Writes verdicts as JUnit XML, which CI systems show.
#include <string>
#include <vector>

#include "core/verdict/scenario_check.hpp"

namespace lanewise {

// Each scenario becomes a suite, each expectation and each run a test case.
std::string junit_xml(std::vector<ScenarioVerdict> const& verdicts);

}  // namespace lanewise
