#include "core/planner/choice/planned_as_set.hpp"

#include <algorithm>
#include <utility>

#include "core/machine/nvlink_domains.hpp"
#include "core/plan/dag.hpp"
#include "core/planner/search_limits.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/planner/search/set_planner.hpp"

namespace lanewise {
namespace {

// Each step after all that it waits for.
std::vector<Step> in_order(std::vector<Step> steps) {
  auto const order = order_by_sweeps(dag_of(steps));
  std::vector<StepId> new_id(steps.size());
  for (std::size_t k = 0; k < order.size(); ++k) new_id[order[k]] = StepId(k);
  std::vector<Step> ordered;
  ordered.reserve(steps.size());
  for (auto const old : order) {
    auto& step = ordered.emplace_back(std::move(steps[old]));
    for (auto& before : step.order_only) before = new_id[index(before)];
    std::sort(step.order_only.begin(), step.order_only.end());
  }
  return ordered;
}

Region behind(Region region, Bytes offset) { return {region.buffer, region.offset + offset}; }

}  // namespace

bool can_be_planned_as_set(Collective const& collective, Machine const& machine) {
  auto const n = collective.among.size();
  auto const among_pairs = [&] { return n * n <= kSearchLimits.max_searched_set; };
  switch (collective.op) {
    case CollectiveOp::AllToAll:
    case CollectiveOp::AllToAllV:
    case CollectiveOp::AllGather:
      if (!among_pairs()) return false;
      break;
    case CollectiveOp::Scatter:
    case CollectiveOp::Gather:
      if (n > kSearchLimits.max_scheduled_set) return false;
      break;
    default: return false;
  }
  auto const first = first_nodes_of_domains(machine);
  auto const home = first[index(machine.host_of(collective.among.front()))];
  return std::all_of(collective.among.begin(), collective.among.end(), [&](Place const& place) {
    return gpu_at(machine, place).has_value() && first[index(machine.host_of(place))] == home;
  });
}

Plan planned_as_set(Model const& model, Plan const& direct, Effort effort) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < direct.steps.size(); ++i) {
    auto const& step = direct.steps[i];
    requests.push_back({.id = std::to_string(i),
                        .from = step.from,
                        .to = step.to,
                        .bytes = step.bytes,
                        .op = step.from == step.to ? step.op : Op::Copy,
                        .any_mover = true});
  }
  auto set = SetPlanner(model).plan(requests, {Objective::Makespan, effort});
  auto const move_block = [&](StepId id, Step const& block) {
    auto& step = set.steps[index(id)];
    step.transfer = block.transfer;
    step.reads = behind(*block.reads, step.offset);
    step.writes = behind(*block.writes, step.offset);
    step.offset = Bytes(0);
  };
  for (std::size_t i = 0; i < set.decisions.size(); ++i) {
    move_block(set.decisions[i].step, direct.steps[i]);
    for (auto const& piece : set.decisions[i].others) move_block(piece.step, direct.steps[i]);
  }
  auto plan = direct;
  plan.steps = in_order(std::move(set.steps));
  // Kernels that are one on each GPU know of no other order than this.
  for (auto& step : plan.steps) step.after = std::exchange(step.order_only, {});
  return plan;
}

}  // namespace lanewise
