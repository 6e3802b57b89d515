#include "core/view/library_report_text.hpp"

#include <fmt/format.h>

#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

std::string library_report_text(std::vector<LibraryRow> const& rows) {
  Table table({"machine", "collective", "size", "library", "does it by", "time", "bus bandwidth", "best plan",
               "library / best"});
  std::string notes;
  for (auto const& row : rows) {
    bool const known = row.refused.empty();
    table.add({row.machine, std::string(to_string(row.op)), exact_text(row.bytes), row.library,
               known ? fmt::format("{} {}", row.algorithm, row.protocol) : "not known",
               known ? rounded_text(row.time) : "", known ? rounded_text(row.bus_bandwidth) : "",
               row.best > Seconds(0) ? rounded_text(row.best) : "",
               known ? fmt::format("{:.2f}", row.time / row.best) : ""});
    if (!known) notes += fmt::format("{}, {}: {}\n", row.machine, to_string(row.op), row.refused);
  }
  return table.text() + (notes.empty() ? "" : "\n" + notes);
}

}  // namespace lanewise
