#include "core/estimate/flow_set.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "core/estimate/posted_writes.hpp"

namespace lanewise {

FlowSet::FlowSet(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands) {
  auto const positions = number_resources(model, demands);
  auto const limits = posted_write_limits(model.machine(), steps);
  std::vector<std::vector<std::uint32_t>> limits_of;  // of each step: their numbers among the capacities
  if (!limits.empty()) limits_of.resize(steps.size());
  for (auto const& limit : limits) {
    for (auto const member : limit.members) limits_of[member].push_back(static_cast<std::uint32_t>(capacities_.size()));
    capacities_.push_back(limit.capacity.value());
  }
  add_flows(demands, positions, limits_of);
  remove_never_binding();
  find_classes();
}

FlowSet::Positions FlowSet::number_resources(Model const& model, std::span<StepDemand const> demands) {
  Positions positions(model.resources().count(), 0);
  for (auto const& demand : demands)
    for (auto const& use : demand.uses)
      if (positions[index(use.resource)] == 0) {
        capacities_.push_back(model.capacity(use.resource)->value());
        positions[index(use.resource)] = static_cast<std::uint32_t>(capacities_.size());
      }
  return positions;
}

void FlowSet::add_flows(std::span<StepDemand const> demands, Positions const& positions,
                        std::vector<std::vector<std::uint32_t>> const& limits_of) {
  std::size_t count = 0;
  for (auto const& demand : demands) count += demand.uses.size();
  for (auto const& list : limits_of) count += list.size();
  uses_.reserve(count);
  flows_.resize(demands.size());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    auto const first = uses_.size();
    for (auto const& use : demands[i].uses) uses_.push_back({positions[index(use.resource)] - 1, use.weight.ratio()});
    if (!limits_of.empty())
      for (auto const limit : limits_of[i]) uses_.push_back({limit, 1});
    flows_[i].uses = std::span(uses_).subspan(first);
    flows_[i].cap = demands[i].cap.value();
  }
}

void FlowSet::remove_never_binding() {
  auto const never = never_binding(capacities_, flows_);
  auto kept = uses_.begin();
  for (auto& flow : flows_) {
    auto const first = kept;
    for (auto const& use : flow.uses)
      if (!never[use.resource]) *kept++ = use;
    flow.uses = std::span(first, kept);
  }
}

void FlowSet::find_classes() {
  auto const hash = [&](std::uint32_t flow) {
    auto sum = std::hash<double>()(flows_[flow].cap);
    for (auto const& use : flows_[flow].uses)
      sum = (sum ^ use.resource ^ std::hash<double>()(use.weight)) * 0x9e3779b97f4a7c15;
    return sum ^ (sum >> 32);
  };
  auto const are_alike = [&](std::uint32_t a, std::uint32_t b) {
    return flows_[a].cap == flows_[b].cap &&
           std::equal(flows_[a].uses.begin(), flows_[a].uses.end(), flows_[b].uses.begin(), flows_[b].uses.end());
  };
  std::unordered_map<std::uint32_t, std::uint32_t, decltype(hash), decltype(are_alike)> known(2 * flows_.size(), hash,
                                                                                              are_alike);
  class_of_.reserve(flows_.size());
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    auto const [found, is_new] = known.emplace(i, static_cast<std::uint32_t>(classes_.size()));
    if (is_new) classes_.push_back(flows_[i]);
    class_of_.push_back(found->second);
  }
}

}  // namespace lanewise
