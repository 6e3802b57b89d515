#include "core/measurement/session_noise.hpp"

#include <algorithm>
#include <cmath>

#include "core/measurement/measured_transfer.hpp"

namespace lanewise {
namespace {

constexpr Bytes kReferenceBytes{std::int64_t{64} << 20};  // hides the time to start, and takes some milliseconds

// Transfers whose ends are of the same kinds drift together.
bool same_kind(Machine const& machine, Place const& a, Place const& b) {
  auto const* one = std::get_if<PciId>(&a);
  auto const* other = std::get_if<PciId>(&b);
  if (one == nullptr || other == nullptr) return one == other;
  return machine.at(*one).kind == machine.at(*other).kind;
}

}  // namespace

std::vector<Request> reference_requests(Machine const& machine, Bytes max_bytes) {
  auto const gpus = machine.all(PciKind::Gpu);
  if (gpus.empty()) return {};
  Place const gpu = gpus.front();
  Place const host = machine.numa_of(gpus.front());
  auto const bytes = std::min(kReferenceBytes, max_bytes);
  std::vector<Request> requests{{.id = "host to device", .from = host, .to = gpu, .bytes = bytes},
                                {.id = "device to host", .from = gpu, .to = host, .bytes = bytes}};
  if (gpus.size() > 1) requests.push_back({.id = "device to device", .from = gpu, .to = gpus[1], .bytes = bytes});
  return requests;
}

double session_noise(Measurement const& measurement, Machine const& machine, std::vector<Request> const& requests) {
  double noise = 0;
  for (auto const& reference : measurement.noise) {
    auto const from = place_at(machine, reference.flow.from, reference.pos);
    auto const to = place_at(machine, reference.flow.to, reference.pos);
    for (auto const& request : requests)
      if (same_kind(machine, request.from, from) && same_kind(machine, request.to, to))
        noise = std::max(noise, reference.spread / 2);
  }
  return noise;
}

std::optional<double> noise_of(Measurement const& measurement, Machine const& machine, MeasuredPoint const& point,
                               std::vector<Request> const& requests) {
  auto const drift = session_noise(measurement, machine, requests);
  if (!point.noise && !point.spread && drift == 0) return std::nullopt;
  return std::hypot(point.noise.value_or(point.spread.value_or(0) / 2), drift);
}

}  // namespace lanewise
