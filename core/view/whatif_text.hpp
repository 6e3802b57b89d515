#pragma once
#include <string>
#include <vector>

#include "core/explain/whatif.hpp"

namespace lanewise {

// A row for each change, worst first. `settings` are the changed settings as the user wrote them.
std::string whatif_text(WhatIf const& whatif, std::string const& machine, std::vector<std::string> const& settings);

}  // namespace lanewise
