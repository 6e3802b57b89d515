#include "core/estimate/plan_parameters.hpp"

#include <algorithm>
#include <set>

#include "core/estimate/demands.hpp"
#include "core/estimate/step_kinds.hpp"

namespace lanewise {

namespace {

void insert_parameter_of(Cap cap, std::set<Parameter>& found) {
  if (cap == Cap::PeerReads) found.insert(Parameter::RootComplexPeer);
  if (cap == Cap::CpuCopy) found.insert(Parameter::CoreCopy);
  if (cap == Cap::BarRead || cap == Cap::BarWrite) found.insert(Parameter::BarAccess);
  if (cap == Cap::PageMigration) found.insert(Parameter::PageMigration);
}

// The latency of what has this rate.
void insert_latency_of(Parameter rate, std::set<Parameter>& found) {
  if (rate == Parameter::NvlinkEfficiency) found.insert(Parameter::NvlinkLatency);
  if (rate == Parameter::NetworkRate) found.insert(Parameter::NetworkLatency);
  if (rate == Parameter::DriveRate) found.insert(Parameter::DriveLatency);
}

}  // namespace

std::vector<Parameter> parameters_of(Plan const& plan, Model const& model) {
  std::set<Parameter> found{Parameter::LinkUtilisation, Parameter::EngineStart, Parameter::HostWork,
                            Parameter::PathLatency};
  auto const& parts = model.machine().parts;
  if (std::any_of(parts.begin(), parts.end(),
                  [](Part const& part) { return part.latency_spread || (part.kind == PartKind::Gpu && part.spread); }))
    found.insert(Parameter::GenericLatencies);
  bool const is_between_nodes =
      std::any_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) { return step.way.nic_from.has_value(); });
  StepKinds kinds(model);
  for (auto const& step : plan.steps) {
    if (step.work > Seconds(0) && step.way.blocks > 0)
      found.insert(is_between_nodes ? Parameter::LibraryMessages : Parameter::LibrarySteps);
    if (step.way.carrier == Carrier::Mpi) found.insert(Parameter::MessagePassing);
    if (kinds.is_known(step)) continue;
    auto const demand = demand_of(model, step);
    for (auto const engine : demand.engines)
      if (model.resources().at(engine).is_assumed()) found.insert(Parameter::CopyEngines);
    for (auto const& use : demand.uses) {
      auto const parameter = parameter_of(model.resources().at(use.resource).kind);
      found.insert(parameter);
      if (model.resources().at(use.resource).is_inferred()) found.insert(Parameter::GenericParts);
      insert_latency_of(parameter, found);
    }
    insert_parameter_of(demand.cap_reason, found);
    if (step.way.warps > 0) found.insert(Parameter::TokenWarps);
  }
  return {found.begin(), found.end()};
}

}  // namespace lanewise
