#pragma once
// Measurements as files: what is written reads back equal, but for the places in the file.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/measurement/measurement.hpp"

namespace lanewise {

// `lanewise: measurement/1`; JSON is YAML, so read_measurement reads this too. A series is written as `values`, as a
// `sweep` where its accesses vary, or as `together`: which of the reader's forms it came from is not kept.
nlohmann::ordered_json to_json(Measurement const& measurement);
std::string write_measurement(Measurement const& measurement);

}  // namespace lanewise
