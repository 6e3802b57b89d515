#pragma once
#include <string>
#include <vector>

#include "core/verdict/both_modes.hpp"

namespace lanewise {

// The comparison of each run, the decisions that differ, and a summary line.
std::string both_modes_text(std::vector<BothModes> const& runs);

}  // namespace lanewise
