#pragma once
// What the GPUs of each node do by themselves in a plan of several nodes: a machine and a plan for every node, which
// are run as plans of one machine are.
#include <string>
#include <vector>

#include "hw/network/network_plan.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// By node; `lowered` has the steps of the plan, `drives` names drives of the cluster. Throws PlanError where nodes
// cannot be told apart, InputError for a drive that the cluster does not have.
std::vector<NodePlan> make_node_plans(Plan const& plan, Model const& model, std::vector<NetworkStep> const& lowered,
                                      DrivePaths const& drives);

// A node's machine and plan, in the process that runs them.
struct NodeSteps {
  Machine machine;
  Plan plan;
};
NodeSteps node_steps_from(NodePlan const& node);

}  // namespace lanewise::hw
