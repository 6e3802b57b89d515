#include "core/view/baseline_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/text/markdown.hpp"
#include "core/text/percent.hpp"
#include "core/text/table.hpp"

namespace lanewise {
namespace {

std::vector<std::string> const kHeader{"change", "scenario", "machine", "variant", "detail"};

std::string summary_of(BaselineComparison const& comparison) {
  return fmt::format("compared with {} (tolerance {}): runs in both: {}, unchanged: {}; {} regression{}",
                     comparison.file, percent_text(comparison.tolerance), comparison.compared, comparison.unchanged,
                     comparison.regressions(), comparison.regressions() == 1 ? "" : "s");
}

std::vector<std::string> row_of(Change const& change) {
  std::string kind(to_string(change.kind));
  if (change.regression)
    std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::toupper(c); });
  return {kind, change.run.scenario, change.run.machine, change.run.variant, change.detail};
}

}  // namespace

std::string baseline_text(BaselineComparison const& comparison) {
  auto text = summary_of(comparison) + "\n";
  if (comparison.changes.empty()) return text;
  Table table(kHeader);
  for (auto const& change : comparison.changes) table.add(row_of(change));
  return text + "\n" + table.text();
}

std::string baseline_markdown(BaselineComparison const& comparison) {
  auto text = markdown_cell(summary_of(comparison)) + "\n";
  if (comparison.changes.empty()) return text;
  text += "\n" + markdown_header(kHeader);
  for (auto const& change : comparison.changes) text += markdown_row(row_of(change));
  return text;
}

}  // namespace lanewise
