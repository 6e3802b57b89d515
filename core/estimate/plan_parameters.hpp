#pragma once
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/model/resources/parameter.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// The parameters that the steps of a plan depend on: those of the resources they use, and those of starts and
// latencies.
std::vector<Parameter> parameters_of(Plan const& plan, Model const& model);

}  // namespace lanewise
