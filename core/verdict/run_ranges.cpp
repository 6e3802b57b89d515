#include "core/verdict/run_ranges.hpp"

#include <set>

#include "core/estimate/demands.hpp"
#include "core/io/json.hpp"

namespace lanewise {

std::vector<Parameter> parameters_of(Plan const& plan, Model const& model) {
  std::set<Parameter> found{Parameter::LinkUtilisation, Parameter::EngineStart, Parameter::HostWork,
                            Parameter::PathLatency};
  for (auto const& step : plan.steps) {
    auto const demand = demand_of(model, step);
    for (auto const& use : demand.uses) {
      auto const parameter = parameter_of(model.resources().at(use.resource).kind);
      found.insert(parameter);
      if (parameter == Parameter::NvlinkEfficiency) found.insert(Parameter::NvlinkLatency);
      if (parameter == Parameter::NetworkRate) found.insert(Parameter::NetworkLatency);
    }
    if (demand.cap_reason == Cap::PeerReads) found.insert(Parameter::RootComplexPeer);
    if (demand.cap_reason == Cap::CpuCopy) found.insert(Parameter::CoreCopy);
    if (demand.cap_reason == Cap::BarRead || demand.cap_reason == Cap::BarWrite) found.insert(Parameter::BarAccess);
    if (demand.cap_reason == Cap::PageMigration) found.insert(Parameter::PageMigration);
  }
  return {found.begin(), found.end()};
}

void add_ranges(Trace& trace, Plan const& plan, Model const& model, MakeExecutor const& executor) {
  auto const figures = [&](Model const& under) {
    auto const run = executor(under)->run(plan);
    std::vector<double> values{run.makespan.value()};
    for (auto const& step : run.steps) values.push_back(step.duration().value());
    return values;
  };
  auto const parameters = parameters_of(plan, model);
  auto const ranges = Intervals(model).of_each(figures, parameters);
  auto const range = [&](std::size_t i) {
    return TimeRange{through_json(Seconds(ranges[i].low)), through_json(Seconds(ranges[i].high))};
  };
  trace.range = range(0);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) trace.steps[i].range = range(i + 1);
}

}  // namespace lanewise
