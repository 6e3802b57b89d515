#pragma once
#include <string>
#include <vector>

#include "core/explain/library_report.hpp"

namespace lanewise {

// A row for each collective, and below why the library does not do some.
std::string library_report_text(std::vector<LibraryRow> const& rows);

}  // namespace lanewise
