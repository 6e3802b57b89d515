#include "core/view/whatif_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
std::string whatif_text(WhatIf const& whatif, std::string const& machine, std::vector<std::string> const& settings) {
  auto text = fmt::format("{} with {}\n", machine, fmt::join(settings, ", "));
  if (whatif.changes.empty()) return text + fmt::format("Nothing changes for any of {} pairs.\n", whatif.pairs);
  Table table({"pair", "figure", "before", "after", "ratio", "way", "because"});
  for (auto const& change : whatif.changes) {
    auto const both = change.figure == WhatIfFigure::BothWays;
    auto pair = fmt::format("{} {} {}", change.from, both ? "<>" : ">", change.to);
    if (change.more > 0) pair += fmt::format(" and {} more", change.more);
    auto const way = change.way_before == change.way_after
                         ? change.way_after
                         : fmt::format("{} -> {}", change.way_before.empty() ? "none" : change.way_before,
                                       change.way_after.empty() ? "none" : change.way_after);
    auto const ratio = change.ratio();
    table.add({pair, std::string(to_string(change.figure)),
               figure_text(change.figure, change.before, change.way_before),
               figure_text(change.figure, change.after, change.way_after), ratio ? fmt::format("{:.2f}", *ratio) : "",
               way, change.because});
  }
  text += "\n" + table.text();
  if (!whatif.ran_both_ways) text += "Both directions at once are left out: they need the simulator.\n";
  return text;
}

}  // namespace lanewise
