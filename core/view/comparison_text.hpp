#pragma once
#include <string>

#include "core/verdict/comparison.hpp"

namespace lanewise {

// A row for each step, the makespan, and the median error.
std::string comparison_text(Comparison const& comparison);

}  // namespace lanewise
