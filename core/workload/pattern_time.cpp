#include "core/workload/pattern_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/estimate/plan_parameters.hpp"
#include "core/workload/storage_traffic.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/libraries/library.hpp"

namespace lanewise {
namespace {

std::optional<CollectiveOp> collective_op(Exchange exchange) {
  switch (exchange) {
    case Exchange::AllReduce: return CollectiveOp::AllReduce;
    case Exchange::AllGather: return CollectiveOp::AllGather;
    case Exchange::ReduceScatter: return CollectiveOp::ReduceScatter;
    case Exchange::AllToAll: return CollectiveOp::AllToAll;
    case Exchange::Broadcast: return CollectiveOp::Broadcast;
    default: break;
  }
  return std::nullopt;
}

std::vector<std::vector<Place>> groups_of(TrafficPattern const& pattern, Workload const& workload,
                                          Placement const& placement) {
  std::vector<std::vector<Place>> groups;
  for (auto const& ranks : rank_groups_of(pattern, workload)) {
    auto& group = groups.emplace_back();
    for (auto const rank : ranks) group.push_back(placement.ranks.at(static_cast<std::size_t>(rank)));
  }
  return groups;
}

// Sends of the cache: each prefilling GPU to those that decode. Both numbers divide one another. Heads are divided
// while there are enough; what more GPUs decode hold copies. A latent goes to each of them whole.
std::vector<Request> cache_requests(TrafficPattern const& pattern, Workload const& workload,
                                    Placement const& placement) {
  auto const& from = placement.ranks;
  auto const& to = placement.decode;
  if (std::max(from.size(), to.size()) % std::min(from.size(), to.size()) != 0)
    refuse_at(workload.pos, fmt::format("workload: {} GPUs prefill and {} decode; one number must divide the other",
                                        from.size(), to.size()));
  bool const whole = workload.model.latent_key_value_size > 0;
  auto const pairs = whole ? to.size() : std::max(from.size(), to.size());
  auto const of_rank = static_cast<double>(pattern.bytes.value());
  auto const holders = std::min<double>(workload.parallel.tp, workload.model.key_value_heads);
  auto const head = of_rank * holders / workload.model.key_value_heads;
  auto const share = of_rank * static_cast<double>(from.size()) / static_cast<double>(pairs);
  auto const bytes = whole ? of_rank : std::min(of_rank, std::max(share, head));
  std::vector<Request> requests;
  for (std::size_t i = 0; i < pairs; ++i)
    requests.push_back({.id = fmt::format("{}.{}", pattern.id, i),
                        .from = from[i * from.size() / pairs],
                        .to = to[i * to.size() / pairs],
                        .bytes = Bytes(static_cast<std::int64_t>(bytes))});
  return requests;
}

// `wraps`: the last stage sends to the first too, as chunks of an interleaved pipeline do.
std::vector<Request> sends_of(TrafficPattern const& pattern, std::vector<std::vector<Place>> const& groups,
                              bool wraps) {
  std::vector<Request> requests;
  for (auto const& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (i + 1 == group.size() && !wraps) continue;
      requests.push_back({.id = fmt::format("{}.{}", pattern.id, requests.size()),
                          .from = group[i],
                          .to = group[(i + 1) % group.size()],
                          .bytes = pattern.bytes});
    }
  return requests;
}

std::vector<Request> requests_with_storage(TrafficPattern const& pattern, std::vector<std::vector<Place>> const& ranks,
                                           Machine const& machine) {
  std::vector<PciId> gpus;
  for (auto const& rank : ranks) gpus.push_back(std::get<PciId>(rank.front()));
  return storage_requests(pattern, machine, gpus);
}

Plan plan_of(JobSet const& jobs, Model const& model, std::optional<Library> const& library, Effort effort) {
  if (jobs.jobs.size() == 1)
    if (auto const* collective = std::get_if<Collective>(&jobs.jobs.front().what))
      return library ? plan_by_library(model, *collective, *library)
                     : plan_collective(model, *collective, Detail::Folded, effort);
  return plan_job_set(model, jobs, {.objective = Objective::Each, .effort = effort, .library = library});
}

// Traffic patterns of one exchange, size and group take the same time.
using Kind = std::tuple<Exchange, RankGroup, Bytes, std::vector<std::vector<int>>>;

}  // namespace

JobSet jobs_of(TrafficPattern const& pattern, Workload const& workload, Placement const& placement,
               Machine const& machine) {
  JobSet set;
  auto const add_requests = [&](std::vector<Request> const& requests) {
    for (auto const& request : requests) set.jobs.push_back({request.id, request, {}});
  };
  if (pattern.exchange == Exchange::PrefillToDecode) {
    add_requests(cache_requests(pattern, workload, placement));
    return set;
  }
  auto const groups = distinct_groups(machine, groups_of(pattern, workload, placement));
  if (auto const op = collective_op(pattern.exchange)) {
    for (auto const& group : groups)
      set.jobs.push_back(
          {fmt::format("{}.{}", pattern.id, set.jobs.size()), Collective{*op, group, pattern.bytes}, {}});
  } else if (is_with_storage(pattern.exchange)) {
    add_requests(requests_with_storage(pattern, groups, machine));
  } else {
    add_requests(sends_of(pattern, groups, pattern.exchange == Exchange::RingShift || workload.parallel.vpp > 1));
  }
  return set;
}

std::vector<PatternTime> estimated_times(Workload const& workload, Model const& model, KnownTimes& known) {
  auto const placement = place_ranks(workload, model.machine());
  std::vector<PatternTime> times;
  for (auto const& pattern : traffic_of(workload)) {
    auto const [found, is_new] =
        known.try_emplace({pattern.exchange, pattern.bytes, groups_of(pattern, workload, placement)}, Seconds(0));
    if (is_new) {
      auto const plan =
          plan_of(jobs_of(pattern, workload, placement, model.machine()), model, workload.library, Effort::Quick);
      found->second = estimate(model, plan.steps, plan.folding).makespan;
    }
    times.push_back({.pattern = pattern, .reach = {}, .each = found->second});
  }
  return times;
}

PlannedTraffic::PlannedTraffic(Workload const& workload, Model const& model, Effort effort) {
  auto const& machine = model.machine();
  auto const placement = place_ranks(workload, machine);
  std::map<Kind, std::size_t> known;
  for (auto const& pattern : traffic_of(workload)) {
    PatternTime time{.pattern = pattern, .reach = {}};
    auto const groups = groups_of(pattern, workload, placement);
    time.groups = groups.size();
    time.group_size = groups.front().size();
    if (pattern.exchange == Exchange::PrefillToDecode)
      time.reach = reach_of(machine, {placement.ranks.front(), placement.decode.front()});
    else if (is_with_storage(pattern.exchange))
      time.reach = storage_reach(machine, requests_with_storage(pattern, {groups.front()}, machine).front());
    else
      time.reach = reach_of(machine, groups.front());
    auto const [found, is_new] =
        known.emplace(Kind{pattern.exchange, pattern.among, pattern.bytes, pattern.groups}, plans_.size());
    if (is_new)
      plans_.push_back(plan_of(jobs_of(pattern, workload, placement, machine), model, workload.library, effort));
    plan_of_.push_back(found->second);
    patterns_.push_back(std::move(time));
  }
}

std::vector<PatternTime> PlannedTraffic::times(Model const& model, MakeExecutor const& make_executor) const {
  std::vector<Seconds> of_plans;
  for (auto const& plan : plans_)
    of_plans.push_back(make_executor ? make_executor(model)->run(plan).makespan
                                     : estimate(model, plan.steps, plan.folding).makespan);
  auto times = patterns_;
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto& time = times[i];
    time.each = of_plans[plan_of_[i]];
    auto const wire = wire_bytes_per_step(time.pattern, time.group_size) / time.pattern.count;
    time.bus_bandwidth = BytesPerSecond(wire / time.each.value());
  }
  return times;
}

std::vector<Parameter> PlannedTraffic::parameters(Model const& model) const {
  std::set<Parameter> all;
  for (auto const& plan : plans_)
    for (auto const parameter : parameters_of(plan, model)) all.insert(parameter);
  return {all.begin(), all.end()};
}

}  // namespace lanewise
