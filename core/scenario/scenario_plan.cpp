// Converts a scenario's names to requests, collectives and job sets of a machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/machine/device_order.hpp"
#include "core/machine/place_index.hpp"
#include "core/plan/dag.hpp"
#include "core/planner/nic_selection.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {
namespace {

// `pos`: of the job that names the place. `places`: a Machine or a PlaceIndex.
template <class Places>
Place place_named(Scenario const& scenario, SourcePos const& pos, Places const& places, std::string const& what,
                  std::string const& name) {
  try {
    return places.place(name);
  } catch (InputError const& error) {
    throw InputError(
        std::vector<Diagnostic>{{pos, fmt::format("{} of '{}': {}", what, scenario.name, error.what()), {}}});
  }
}

Collective collective_on(Scenario const& scenario, CollectiveSpec const& spec, Machine const& machine) {
  Collective collective{spec.op, {}, spec.bytes, spec.algorithm, 0, spec.sizes, spec.pieces};
  auto const what = spec.id.empty() ? std::string("the collective") : fmt::format("collective '{}'", spec.id);
  PlaceIndex const places(machine);
  if (spec.among == std::vector<std::string>{kAllGpus})
    for (auto const gpu : all_in_number_order(machine, PciKind::Gpu))
      if (!machine.is_off(gpu)) collective.among.emplace_back(gpu);
  if (spec.among == std::vector<std::string>{kAllGpus} && collective.among.size() < 2)
    throw InputError(std::vector<Diagnostic>{
        {scenario.pos,
         fmt::format("{} of '{}': {} has fewer than two GPUs that work", what, scenario.name, machine.name),
         {}}});
  if (!collective.among.empty()) {
    // However many they are, each gets a whole number of 16 B words.
    auto const unit = static_cast<std::int64_t>(16 * collective.among.size());
    if (collective.bytes.value() > unit) collective.bytes = Bytes(collective.bytes.value() / unit * unit);
    return collective;
  }
  for (auto const& name : spec.among) {
    if (name == spec.root) collective.root = collective.among.size();
    collective.among.push_back(place_named(scenario, scenario.pos, places, what, name));
  }
  return collective;
}

Compute compute_on(Scenario const& scenario, ComputeSpec const& spec, Machine const& machine) {
  Compute compute{{}, spec.time, spec.flop, spec.precision, spec.bytes};
  for (auto const& name : spec.on)
    compute.on.push_back(place_named(scenario, scenario.pos, machine, fmt::format("compute '{}'", spec.id), name));
  return compute;
}

// All jobs: transfers first, then collectives, then computations.
struct Named {
  std::string const* id;
  std::vector<std::string> const* after;
};
std::vector<Named> all_named(Scenario const& scenario) {
  std::vector<Named> all;
  for (auto const& item : scenario.transfers) all.push_back({&item.id, &item.after});
  for (auto const& item : scenario.collectives) all.push_back({&item.id, &item.after});
  for (auto const& item : scenario.compute) all.push_back({&item.id, &item.after});
  return all;
}

Request request_on(Scenario const& scenario, TransferSpec const& transfer, Machine const& machine) {
  auto const what = fmt::format("transfer '{}'", transfer.id);
  Request request{.id = transfer.id,
                  .from = place_named(scenario, transfer.pos, machine, what, transfer.from),
                  .to = place_named(scenario, transfer.pos, machine, what, transfer.to),
                  .bytes = transfer.bytes,
                  .op = transfer.op.value_or(Op::Copy),
                  .any_mover = !transfer.op,
                  .only = transfer.mechanism,
                  .by_driver = transfer.by_driver,
                  .access = transfer.access,
                  .pageable = transfer.pageable,
                  .queue_pairs = transfer.queue_pairs,
                  .cores = transfer.cores};
  if (transfer.nics.empty()) return request;
  try {
    request.nics = named_nics(machine, request.from, request.to, transfer.nics.front(), transfer.nics.back());
  } catch (InputError const& error) {
    throw InputError(
        std::vector<Diagnostic>{{transfer.pos, fmt::format("{} of '{}': {}", what, scenario.name, error.what()), {}}});
  }
  return request;
}

}  // namespace

std::vector<std::size_t> order_of(Scenario const& scenario) {
  auto const all = all_named(scenario);
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < all.size(); ++i) number_of.emplace(*all[i].id, i);
  auto const order = order_by_sweeps(Dag(all.size(), [&](auto const& add) {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (auto const& id : *all[i].after) {
        auto const before = number_of.find(id);
        add(before == number_of.end() ? i : before->second, i);  // an unknown id: waits for itself, so it is left out
      }
  }));
  return {order.begin(), order.end()};
}

std::vector<Request> requests_of(Scenario const& scenario, Machine const& machine) {
  std::vector<Request> requests;
  for (auto const& transfer : scenario.transfers) {
    requests.push_back(request_on(scenario, transfer, machine));
    for (std::size_t other = 0; other < scenario.transfers.size(); ++other) {
      auto const& after = transfer.after;
      if (std::find(after.begin(), after.end(), scenario.transfers[other].id) != after.end())
        requests.back().after.push_back(other);
    }
  }
  return requests;
}

std::optional<Collective> collective_of(Scenario const& scenario, Machine const& machine) {
  if (!scenario.collective) return std::nullopt;
  return collective_on(scenario, *scenario.collective, machine);
}

bool is_job_set(Scenario const& scenario) { return !scenario.collectives.empty() || !scenario.compute.empty(); }

JobSet workload_of(Scenario const& scenario, Machine const& machine) {
  auto const all = all_named(scenario);
  auto const transfers = scenario.transfers.size();
  auto const collectives = scenario.collectives.size();
  JobSet job_set;
  for (auto const i : order_of(scenario)) {
    auto& job = job_set.jobs.emplace_back(Job{*all[i].id, Request{}, {}});
    if (i < transfers)
      job.what = request_on(scenario, scenario.transfers[i], machine);
    else if (i < transfers + collectives)
      job.what = collective_on(scenario, scenario.collectives[i - transfers], machine);
    else
      job.what = compute_on(scenario, scenario.compute[i - transfers - collectives], machine);
    for (std::size_t other = 0; other + 1 < job_set.jobs.size(); ++other)
      if (std::find(all[i].after->begin(), all[i].after->end(), job_set.jobs[other].id) != all[i].after->end())
        job.after.push_back(other);
  }
  return job_set;
}

}  // namespace lanewise
