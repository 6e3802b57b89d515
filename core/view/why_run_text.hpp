#pragma once
#include <string>

#include "lanewise/explain/run_explanation.hpp"

namespace lanewise {

// The critical path, the phases of the run, and the upgrades that would help.
std::string why_run_text(RunExplanation const& explanation, Machine const& machine);

}  // namespace lanewise
