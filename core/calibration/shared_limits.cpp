#include "core/calibration/shared_limits.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "core/calibration/part_fit.hpp"
#include "core/io/error.hpp"

namespace lanewise {
namespace {

// The highest rate, in bytes per second, at which one socket's devices together read or wrote host memory in a pattern.
double busiest_io_die(Observations const& patterns, Machine const& machine) {
  double most = 0;
  for (auto const& observation : patterns.all()) {
    std::map<std::pair<SocketId, bool>, double> bytes;  // by socket and direction
    double all = 0;
    for (auto const& request : observation.requests) {
      auto const size = static_cast<double>(request.bytes.value());
      all += size;
      bool const inward = std::holds_alternative<NumaId>(request.to);
      auto const* device = std::get_if<PciId>(inward ? &request.from : &request.to);
      if (device != nullptr && inward != std::holds_alternative<NumaId>(request.from))
        bytes[{machine.socket_of(*device), inward}] += size;
    }
    auto const value = observation.point->value;
    auto const seconds = observation.series->quantity == MeasuredQuantity::Bandwidth ? all / value : value;
    for (auto const& [unused, moved] : bytes) most = std::max(most, moved / seconds);
  }
  return most;
}

// Gives every CPU that does not state the bandwidth of its I/O die this one. Returns whether there was any.
bool assume_io_dies(Machine& machine, double bytes_per_second) {
  bool any = false;
  for (auto& part : machine.parts) {
    if (part.kind != PartKind::Cpu || part.cpu.io_die_bandwidth || !(bytes_per_second > 0)) continue;
    part.cpu.io_die_bandwidth = BytesPerSecond(bytes_per_second);
    any = true;
  }
  return any;
}

}  // namespace

void fit_shared_limits(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue,
                       CalibrationOutcome& outcome) {
  constexpr double kMaxError = 0.1;  // 95th percentile
  auto calibrated = machine;
  auto const fixed = targets_and_values(outcome.figures);
  auto const& known = fixed.first;
  for (std::size_t i = 0; i < known.size(); ++i) known[i].set(calibrated, fixed.second[i]);
  Observations const plain(request.measurement, machine, catalogue, request.patterns, request.executor);
  Observations const patterns(request.measurement, calibrated, catalogue, request.patterns, request.executor);
  if (patterns.size() == 0) throw InputError("--patterns: none of these figures can be predicted");
  outcome.patterns_before = error_of(plain, plain.predictions({}, {}));
  auto const fitted_with = [&](Machine const& start) {
    auto tried = outcome;
    auto limits = targets_of(start, true);  // except those that single transfers determined
    std::erase_if(limits,
                  [&](CalibrationTarget const& limit) { return std::ranges::find(known, limit) != known.end(); });
    add_figures(fit_parts(patterns, start, std::move(limits)), tried);
    auto const [targets, values] = targets_and_values(tried.figures);
    tried.patterns_after = error_of(plain, plain.predictions(targets, values));
    return tried;
  };
  auto best = fitted_with(calibrated);
  if (best.patterns_after.p95 > kMaxError && assume_io_dies(calibrated, busiest_io_die(patterns, machine))) {
    auto with_dies = fitted_with(calibrated);
    if (with_dies.patterns_after.p95 < best.patterns_after.p95 / 2) best = std::move(with_dies);
  }
  outcome = std::move(best);
  for (auto& figure : outcome.figures) figure.before = figure.target.value(machine);
}

}  // namespace lanewise
