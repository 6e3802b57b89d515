#include <nlohmann/json.hpp>

#include "core/calibration/calibrate.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json error_json(FitError const& error) {
  return {{"points", error.points}, {"median_error", error.median}, {"p95_error", error.p95}};
}

}  // namespace

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
