#include "hw/network/node_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/machine/node_split.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/plan/plan_json.hpp"

namespace lanewise::hw {
namespace {

class NodePlanBuilder {
 public:
  NodePlanBuilder(Plan const& plan, Model const& model, NodeSplit const& split, HostId node)
      : plan_(plan), model_(model), first_(split.first_of(node)), machine_(split.alone(node)), node_(node) {
    for (auto& part : machine_.parts) part.inlined = true;  // the other processes need no file of it
    steps_.machine = machine_.name;
    steps_.fingerprint = fingerprint(machine_);
  }

  NodePlan build(std::vector<NetworkStep> const& lowered, DrivePaths const& drives) {
    NodePlan built;
    add_buffers(built);
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      if (lowered[i].verb != Verb::Device || HostId(lowered[i].from_node) != node_) continue;
      numbers_[i] = StepId(steps_.steps.size());
      built.steps.push_back(i);
      steps_.steps.push_back(moved(plan_.steps[i]));
    }
    if (built.steps.empty()) return {};
    for (std::size_t i = 0; i < built.steps.size(); ++i)
      for (auto const before : lowered[built.steps[i]].after)
        if (auto const found = numbers_.find(before); found != numbers_.end())
          steps_.steps[i].after.push_back(found->second);
    for (auto const& named : drives)
      if (auto const drive = find_drive(model_.machine(), named); model_.machine().host_of(drive) == node_)
        built.drives.push_back({machine_.at(moved(drive)).name, named.path});
    built.machine = write_machine(machine_);
    built.plan = to_json(steps_, machine_).dump();
    return built;
  }

 private:
  void add_buffers(NodePlan& built) {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      auto const& buffer = plan_.buffers[i];
      if (model_.machine().host_of(buffer.at) != node_) continue;
      buffers_[i] = BufferId(steps_.buffers.size());
      built.buffers.push_back(i);
      steps_.buffers.push_back({buffer.name, moved(buffer.at), buffer.bytes});
    }
  }

  [[nodiscard]] PciId moved(PciId id) const { return PciId(index(id) - first_.function); }
  [[nodiscard]] NumaId moved(NumaId id) const { return NumaId(index(id) - first_.numa); }
  [[nodiscard]] Place moved(Place const& place) const {
    return std::visit([&](auto const id) { return Place(moved(id)); }, place);
  }
  [[nodiscard]] std::optional<Region> moved(std::optional<Region> const& region) const {
    if (!region) return region;
    return Region{buffers_.at(index(region->buffer)), region->offset};
  }

  // The step on the node's own machine. Its chunk is chosen here, by the model that made the plan.
  [[nodiscard]] Step moved(Step const& step) const {
    auto copy = step;
    auto& way = copy.way;
    if (step.work == Seconds(0) && way.chunk == Bytes(0))
      way.chunk = model_.lower(step.from, step.to, step.bytes, step.op, step.way).chunk;
    copy.from = moved(step.from);
    copy.to = moved(step.to);
    if (way.relay) way.relay = moved(*way.relay);
    if (way.staging) way.staging = moved(*way.staging);
    if (way.staging_to) way.staging_to = moved(*way.staging_to);
    copy.reads = moved(step.reads);
    copy.writes = moved(step.writes);
    copy.after.clear();
    copy.order_only.clear();
    return copy;
  }

  Plan const& plan_;
  Model const& model_;
  NodeSplit::First first_;
  Machine machine_;
  HostId node_;
  Plan steps_;
  std::map<std::size_t, StepId> numbers_;    // in steps_, by number in the plan
  std::map<std::size_t, BufferId> buffers_;  // likewise
};

}  // namespace

std::vector<NodePlan> make_node_plans(Plan const& plan, Model const& model, std::vector<NetworkStep> const& lowered,
                                      DrivePaths const& drives) {
  auto const& machine = model.machine();
  std::vector<NodePlan> plans(machine.hosts.size());
  if (std::none_of(lowered.begin(), lowered.end(), [](auto const& step) { return step.verb == Verb::Device; }))
    return plans;
  auto const split = NodeSplit::of(machine);
  if (!split)
    throw PlanError(fmt::format("the nodes of '{}' cannot be told apart, so none can run its part", machine.name));
  for (std::size_t node = 0; node < plans.size(); ++node)
    plans[node] = NodePlanBuilder(plan, model, *split, HostId(node)).build(lowered, drives);
  return plans;
}

NodeSteps node_steps_from(NodePlan const& node) {
  Catalogue catalogue(topology_folders());
  NodeSteps steps;
  steps.machine = read_machine(SourceText::from_memory("the plan's machine", node.machine), catalogue);
  steps.plan = plan_from_json(nlohmann::ordered_json::parse(node.plan), steps.machine);
  return steps;
}

}  // namespace lanewise::hw
