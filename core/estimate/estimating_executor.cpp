#include "lanewise/estimate/estimating_executor.hpp"

#include "core/estimate/demands.hpp"
#include "core/estimate/flow_hashes.hpp"
#include "core/estimate/resource_usage.hpp"
#include "core/estimate/schedule.hpp"
#include "core/io/json.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {

Trace EstimatingExecutor::run(Plan const& plan) {
  auto const hashes = flow_hashes(model_, plan);
  auto const& model = hashes ? hashes->median : model_;
  auto const demands = demands_of(model, plan.steps, plan.folding);
  auto const run = estimate(model, plan.steps, demands);
  Trace trace;
  trace.mode = kEstimateMode;
  trace.machine = plan.machine;
  trace.fingerprint = plan.fingerprint;
  trace.environment = {{"executor", "estimate"}};
  trace.makespan = through_json(run.makespan);
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    trace.steps.push_back({plan.steps[i].transfer, through_json(run.steps[i].start), through_json(run.steps[i].end),
                           plan.steps[i].bytes, std::nullopt});
  trace.resources = resource_usage(model, plan.steps, demands, run.makespan);
  if (hashes) hashes->note_in(trace);
  note_mean_of_hashes(trace, model_, plan);
  return trace;
}

}  // namespace lanewise
