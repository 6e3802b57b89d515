#include "core/estimate/resource_usage.hpp"

#include <algorithm>

#include "core/estimate/posted_writes.hpp"

namespace lanewise {
namespace {

void add_usage(std::vector<ResourceTrace>& traces, std::string const& name, double bytes, double max_bytes) {
  if (bytes > 0) traces.push_back({name, bytes, max_bytes > 0 ? std::min(1.0, bytes / max_bytes) : 0});
}

}  // namespace

std::vector<ResourceTrace> resource_usage(Model const& model, std::span<Step const> steps,
                                          std::span<StepDemand const> demands, Seconds makespan) {
  auto const bytes_of = [&](std::size_t step) { return static_cast<double>(steps[step].bytes.value()); };
  std::vector<double> carried(model.resources().count(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (auto const& use : demands[i].uses) carried[index(use.resource)] += use.weight.ratio() * bytes_of(i);
  std::vector<ResourceTrace> traces;
  for (std::size_t r = 0; r < carried.size(); ++r)
    if (carried[r] > 0)
      add_usage(traces, model.resources().at(ResourceId(r)).name, carried[r],
                model.capacity(ResourceId(r))->value() * makespan.value());
  for (auto const& limit : posted_write_limits(model.machine(), steps)) {
    double bytes = 0;
    for (auto const member : limit.members) bytes += bytes_of(member);
    add_usage(traces, limit.name, bytes, limit.capacity.value() * makespan.value());
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](auto const& a, auto const& b) { return a.utilisation > b.utilisation; });
  return traces;
}

}  // namespace lanewise
