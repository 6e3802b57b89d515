#pragma once
#include <vector>

#include "lanewise/scenario/scenario.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// Compares the runs with the scenario's expectations: a result for each expectation in each run that it applies to.
// Marks runs whose failure an expectation asks for.
std::vector<ExpectationResult> check_expectations(Scenario const& scenario, std::vector<VariantRun>& runs);

}  // namespace lanewise
