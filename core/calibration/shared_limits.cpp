#include "core/calibration/shared_limits.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "core/calibration/part_fit.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// The highest rates, in bytes per second, at which the devices of one socket moved data in a pattern; 0: none did.
struct BusiestSocket {
  double writes = 0;   // to host memory
  double reads = 0;    // from it
  double traffic = 0;  // both, where a pattern has both
};

BusiestSocket busiest_socket(Observations const& patterns, Machine const& machine) {
  BusiestSocket most;
  for (auto const& observation : patterns.all()) {
    struct Moved {
      double written = 0;
      double read = 0;
    };
    std::map<SocketId, Moved> moved;
    double all = 0;
    for (auto const& request : observation.requests) {
      auto const size = static_cast<double>(request.bytes.value());
      all += size;
      bool const writes = std::holds_alternative<NumaId>(request.to);
      auto const* device = std::get_if<PciId>(writes ? &request.from : &request.to);
      if (device == nullptr || writes == std::holds_alternative<NumaId>(request.from)) continue;
      auto& of_socket = moved[machine.socket_of(*device)];
      (writes ? of_socket.written : of_socket.read) += size;
    }
    auto const value = observation.point->value;
    auto const seconds = observation.series->quantity == MeasuredQuantity::Bandwidth ? all / value : value;
    for (auto const& [unused, bytes] : moved) {
      most.writes = std::max(most.writes, bytes.written / seconds);
      most.reads = std::max(most.reads, bytes.read / seconds);
      if (bytes.written > 0 && bytes.read > 0)
        most.traffic = std::max(most.traffic, (bytes.written + bytes.read) / seconds);
    }
  }
  return most;
}

// Gives every CPU the limits of its devices' host memory traffic that its part does not state. Returns whether there
// was any.
bool assume_host_limits(Machine& machine, BusiestSocket const& busiest) {
  bool any = false;
  auto const assume = [&](std::optional<BytesPerSecond>& limit, double bytes_per_second) {
    if (limit || !(bytes_per_second > 0)) return;
    limit = BytesPerSecond(bytes_per_second);
    any = true;
  };
  for (auto& part : machine.parts) {
    if (part.kind != PartKind::Cpu) continue;
    assume(part.cpu.host_write_bandwidth, busiest.writes);
    assume(part.cpu.host_read_bandwidth, busiest.reads);
    assume(part.cpu.host_traffic_bandwidth, busiest.traffic);
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
  if (best.patterns_after.p95 > kMaxError && assume_host_limits(calibrated, busiest_socket(patterns, machine))) {
    auto with_limits = fitted_with(calibrated);
    if (with_limits.patterns_after.p95 < best.patterns_after.p95 / 2) best = std::move(with_limits);
  }
  outcome = std::move(best);
  for (auto& figure : outcome.figures) figure.before = figure.target.value(machine);
}

}  // namespace lanewise
