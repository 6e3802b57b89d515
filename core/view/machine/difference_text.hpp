#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/machine/comparison/machine_comparison.hpp"

namespace lanewise {

// A table of the differences, those that are expected apart with their reasons, and the result in a sentence.
std::string difference_text(MachineComparison const& comparison);
// As `difference/1`.
nlohmann::ordered_json difference_json(MachineComparison const& comparison);

}  // namespace lanewise
