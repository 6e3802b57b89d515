#pragma once
#include <string>
#include <vector>

#include "core/accuracy/accuracy.hpp"

namespace lanewise {

// Errors by file and by mechanism and distance, what the rules got wrong, the worst points, and a summary line.
std::string accuracy_text(std::vector<MeasurementResult> const& results);
// docs/accuracy.md: the same with the sources of the measurements and of the parameters' ranges.
std::string accuracy_markdown(std::vector<MeasurementResult> const& results);

}  // namespace lanewise
