#include "core/calibration/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/calibration/part_fit.hpp"
#include "core/calibration/shared_limits.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

MeasurementStamp stamp_of(CalibrationRequest const& request) {
  auto const& m = request.measurement;
  return {m.name, m.date, m.source, request.digest, m.environment};
}

// The figures to fit to single transfers: all that are not shared limits, and limits that copies by several cores of
// one NUMA node reach.
std::vector<CalibrationTarget> targets_of_singles(Observations const& singles, Machine const& machine) {
  constexpr double kLower = 0.99;
  auto targets = targets_of(machine, false);
  auto const usual = singles.predictions({}, {});
  for (auto const& limit : targets_of(machine, true)) {
    auto const lowered = singles.predictions({limit}, {*limit.value(machine) * kLower});
    bool reached = false;
    for (std::size_t i = 0; i < usual.size(); ++i)
      reached = reached || (singles.all()[i].series->cores > 1 && usual[i] != lowered[i]);
    if (reached) targets.push_back(limit);
  }
  return targets;
}

}  // namespace

CalibrationOutcome calibrate(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue) {
  Observations const singles(request.measurement, machine, catalogue);
  if (singles.size() == 0)
    throw InputError(fmt::format(
        "'{}' has no single transfer that can be predicted on '{}'{}", request.measurement.name, machine.name,
        singles.left_out().empty() ? std::string() : ": " + singles.left_out().begin()->first));
  CalibrationOutcome outcome;
  outcome.overlay.machine = machine.name;
  outcome.overlay.fingerprint = fingerprint(machine);
  outcome.overlay.measurement = stamp_of(request);
  outcome.left_out = singles.left_out();
  auto const fitted = fit_parts(singles, machine, targets_of_singles(singles, machine));
  add_figures(fitted, outcome);
  for (auto const weight : fitted.weights) outcome.outliers += weight > 0 ? 0 : 1;
  outcome.before = error_of(singles, singles.predictions({}, {}));
  auto const [targets, values] = targets_and_values(outcome.figures);
  outcome.after = error_of(singles, singles.predictions(targets, values));
  if (!request.patterns.empty()) fit_shared_limits(request, machine, catalogue, outcome);
  for (auto const& figure : outcome.figures) outcome.overlay.values.push_back(figure.fitted);
  return outcome;
}

}  // namespace lanewise
