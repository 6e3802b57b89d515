#pragma once
#include <nlohmann/json_fwd.hpp>

#include "lanewise/verdict/rival.hpp"

namespace lanewise {

// How a rival that ran compares with the plan. An interval without bounds is null.
nlohmann::ordered_json to_json(RivalResult const& rival);
RivalResult rival_from_json(nlohmann::ordered_json const& json);

}  // namespace lanewise
