#pragma once
#include <string>

#include "core/verdict/baseline.hpp"

namespace lanewise {

// A summary line, then a table with a row for each change; those that fail the check are in capitals.
std::string baseline_text(BaselineComparison const& comparison);
// The same in Markdown.
std::string baseline_markdown(BaselineComparison const& comparison);

}  // namespace lanewise
