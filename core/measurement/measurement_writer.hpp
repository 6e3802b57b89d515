#pragma once
// Measurements as files. Reading the file back gives an equal measurement, except for positions in the file.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/measurement/measurement.hpp"

namespace lanewise {

// `lanewise: measurement/1`; JSON is YAML, so read_measurement() reads this too. A series is written as `sweep` if its
// access patterns vary, as `together` if its points have several flows, and as `values` otherwise, whichever form it
// was read from.
nlohmann::ordered_json to_json(Measurement const& measurement);
std::string write_measurement(Measurement const& measurement);

}  // namespace lanewise
