#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/calibration/calibrate.hpp"
#include "core/text/table.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

std::string errors_text(std::string const& of, FitError const& before, FitError const& after) {
  auto const percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  Table table({"error of " + of, "points", "median", "p95"});
  table.add({"before", std::to_string(before.points), percent(before.median), percent(before.p95)});
  table.add({"after", std::to_string(after.points), percent(after.median), percent(after.p95)});
  return table.text();
}

Json error_json(FitError const& error) {
  return {{"points", error.points}, {"median_error", error.median}, {"p95_error", error.p95}};
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

nlohmann::ordered_json calibration_json(CalibrationOutcome const& outcome) {
  auto json = calibration_tree(outcome.overlay);
  for (std::size_t i = 0; i < outcome.figures.size(); ++i)
    if (auto const before = outcome.figures[i].before)
      json["values"][i]["before"] = exact_text(outcome.figures[i].unit, *before);
  auto& fit = json["fit"];
  fit["before"] = error_json(outcome.before);
  fit["after"] = error_json(outcome.after);
  if (outcome.patterns_before.points > 0) {
    fit["patterns_before"] = error_json(outcome.patterns_before);
    fit["patterns_after"] = error_json(outcome.patterns_after);
  }
  fit["outliers"] = outcome.outliers;
  fit["left_out"] = Json::array();
  for (auto const& [why, count] : outcome.left_out) fit["left_out"].push_back({{"points", count}, {"why", why}});
  return json;
}

}  // namespace lanewise
