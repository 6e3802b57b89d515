#pragma once
#include <string>

#include "lanewise/explain/choice_explanation.hpp"

namespace lanewise {

// A table of every way with its verdict, its route, and the rules that the table names.
std::string why_text(ChoiceExplanation const& explanation, Machine const& machine);

}  // namespace lanewise
