#include "core/view/calibration_text.hpp"

#include <fmt/format.h>

#include "core/text/table.hpp"

namespace lanewise {
namespace {

std::string errors_text(std::string const& of, FitError const& before, FitError const& after) {
  auto const percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  Table table({"error of " + of, "points", "median", "p95"});
  table.add({"before", std::to_string(before.points), percent(before.median), percent(before.p95)});
  table.add({"after", std::to_string(after.points), percent(after.median), percent(after.p95)});
  return table.text();
}

std::string name_of(UnidentifiedValue const& value) {
  return fmt::format("{} {}", value.at.empty() ? value.part : value.at, value.key);
}

}  // namespace

std::string calibration_text(CalibrationOutcome const& outcome) {
  auto const& overlay = outcome.overlay;
  auto text = fmt::format("{} calibrated to {}\n\n", overlay.machine, overlay.measurement.name);
  Table figures({"figure", "before", "fitted", "95 % interval", "points", ""});
  for (auto const& figure : outcome.figures) {
    auto const& fitted = figure.fitted;
    auto const shown = [&](double value) { return rounded_text(figure.unit, value); };
    figures.add({figure.target.text(), figure.before ? shown(*figure.before) : "-", shown(fitted.value),
                 fmt::format("{} to {}", shown(fitted.low), shown(fitted.high)), std::to_string(fitted.points),
                 fitted.together_with.empty()
                     ? ""
                     : "only together with " + fmt::format("{}", fmt::join(fitted.together_with, ", "))});
  }
  text += figures.text() + "\n" + errors_text("single transfers", outcome.before, outcome.after);
  if (outcome.patterns_before.points > 0)
    text += "\n" + errors_text("the patterns fitted", outcome.patterns_before, outcome.patterns_after);
  if (outcome.outliers > 0)
    text += fmt::format("\n{} single transfers are outliers and were given no weight\n", outcome.outliers);
  if (!outcome.left_out.empty()) {
    Table left({"left out", "why"});
    for (auto const& [why, count] : outcome.left_out) left.add({std::to_string(count), why});
    text += "\n" + left.text();
  }
  if (!overlay.unidentified.empty()) {
    Table open({"not identified", "why"});
    for (auto const& value : overlay.unidentified) open.add({name_of(value), value.reason});
    text += "\n" + open.text();
  }
  return text;
}

}  // namespace lanewise
