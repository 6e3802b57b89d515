#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lanewise/machine/part.hpp"

namespace lanewise {

// A part: each figure with its kind of source and the source.
std::string part_text(Part const& part);
nlohmann::ordered_json part_json(Part const& part);

}  // namespace lanewise
