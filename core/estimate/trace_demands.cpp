#include "core/estimate/trace_demands.hpp"

#include <map>

#include "core/estimate/demands.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

namespace {

void describe(Trace& trace, StepDemands const& demands, Model const& model) {
  std::map<std::vector<std::pair<ResourceId, Weight>>, std::uint32_t> known;
  std::vector<std::uint32_t> of_step;
  for (auto const& demand : demands) {
    std::vector<std::pair<ResourceId, Weight>> uses;
    for (auto const& use : demand.uses) uses.emplace_back(use.resource, use.weight);
    of_step.push_back(known.emplace(std::move(uses), static_cast<std::uint32_t>(known.size())).first->second);
    if (known.size() > kMaxTraceDemands) return;
  }
  trace.demands.resize(known.size());
  for (auto const& [uses, place] : known)
    for (auto const& [resource, weight] : uses)
      trace.demands[place][model.resources().at(resource).name] = weight.ratio();
  for (std::size_t i = 0; i < of_step.size(); ++i) {
    trace.steps[i].demand = of_step[i];
    for (auto const engine : demands[i].engines) trace.steps[i].engines.push_back(model.resources().at(engine).name);
  }
}

}  // namespace

void describe_demands(Trace& trace, Plan const& plan, Model const& model) {
  if (!plan.folding.empty() || trace.steps.size() != plan.steps.size()) return;
  try {
    describe(trace, demands_of(model, plan.steps), model);
  } catch (PlanError const&) {  // a figure is unknown, and the plan ran on hardware
  }
}

}  // namespace lanewise
