#pragma once
#include <string>
#include <vector>

#include "core/explain/set_report.hpp"

namespace lanewise {

// Of one machine: a row for each set, and a summary line.
std::string set_report_text(std::vector<SetResult> const& results);
// docs/set-report.md, of many machines: a summary line, and a row for each machine.
std::string set_report_markdown(std::vector<SetResult> const& results);

}  // namespace lanewise
