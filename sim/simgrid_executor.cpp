#include "lanewise/sim/simgrid_executor.hpp"

#include <numeric>

#include "core/estimate/demands.hpp"
#include "core/estimate/engine_queue.hpp"
#include "core/estimate/flow_hashes.hpp"
#include "core/estimate/posted_writes.hpp"
#include "core/estimate/resource_usage.hpp"
#include "core/io/json.hpp"
#include "core/plan/dag_runner.hpp"
#include "sim/simulation.hpp"

namespace lanewise::sim {
namespace {

// The plan's demands as links and flows. Each used resource is a link; its capacity is scaled so that every flow's
// weight is a whole number of repetitions.
class Platform {
 public:
  Platform(Model const& model, StepDemands const& demands, std::vector<Step> const& steps) {
    std::vector<int> divisor(model.resources().count(), 0);
    for (auto const& demand : demands)
      for (auto const& use : demand.uses)
        divisor[index(use.resource)] = std::gcd(divisor[index(use.resource)], use.weight.units());
    std::vector<std::uint32_t> link_of(model.resources().count(), 0);
    for (std::size_t r = 0; r < divisor.size(); ++r) {
      if (divisor[r] == 0) continue;
      link_of[r] = static_cast<std::uint32_t>(links_.size());
      auto const unit = static_cast<double>(divisor[r]) / Weight::kBase;
      links_.push_back({model.capacity(ResourceId(r))->value() / unit});
    }
    flows_.reserve(demands.size());
    for (std::size_t i = 0; i < demands.size(); ++i) {
      Flow flow;
      flow.uses.reserve(demands[i].uses.size());
      for (auto const& use : demands[i].uses)
        flow.uses.push_back({link_of[index(use.resource)], use.weight.units() / divisor[index(use.resource)]});
      if (demands[i].cap < kUnlimited) flow.cap_bytes_per_second = demands[i].cap.value();
      flow.latency_seconds = demands[i].latency().value();
      flow.bytes = static_cast<std::uint64_t>(steps[i].bytes.value());
      flows_.push_back(std::move(flow));
    }
    add_quirks(model, steps);
  }

  [[nodiscard]] std::vector<SharedLink> const& links() const { return links_; }
  [[nodiscard]] std::vector<Flow> const& flows() const { return flows_; }

 private:
  // Links of their own after those of the resources.
  void add_quirks(Model const& model, std::vector<Step> const& steps) {
    for (auto const& limit : posted_write_limits(model.machine(), steps)) {
      links_.push_back({limit.capacity.value()});
      for (auto const member : limit.members)
        flows_[member].uses.push_back({static_cast<std::uint32_t>(links_.size() - 1), 1});
    }
  }

  std::vector<SharedLink> links_;
  std::vector<Flow> flows_;
};

}  // namespace

Trace SimGridExecutor::run(Plan const& plan) {
  auto const hashes = flow_hashes(model_, plan);
  auto const& model = hashes ? hashes->median : model_;
  auto const demands = demands_of(model, plan.steps, plan.folding);
  Platform const platform(model, demands, plan.steps);
  EngineQueue engines(model, demands);
  DagRunner runner(plan.steps);
  using Start = std::function<void(std::size_t)>;
  FlowScheduler const scheduler{
      [&](Start const& start) { runner.begin([&](StepId step) { engines.ready(index(step), start); }); },
      [&](std::size_t flow, Start const& start) {
        engines.finished(flow, start);
        runner.finished(StepId(flow), [&](StepId step) { engines.ready(index(step), start); });
      }};
  auto const result = simulate(platform.links(), platform.flows(), scheduler);
  Trace trace;
  trace.mode = "sim";
  trace.machine = plan.machine;
  trace.fingerprint = plan.fingerprint;
  trace.environment = {{"executor", "SimGrid " + simgrid_version()}};
  trace.makespan = through_json(Seconds(result.makespan));
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    trace.steps.push_back({plan.steps[i].transfer, through_json(Seconds(result.flows[i].start)),
                           through_json(Seconds(result.flows[i].finish)), plan.steps[i].bytes, std::nullopt});
  trace.resources = resource_usage(model, plan.steps, demands, Seconds(result.makespan));
  if (hashes) hashes->note_in(trace);
  note_mean_of_hashes(trace, model_, plan);
  return trace;
}

}  // namespace lanewise::sim

lanewise::Executor* lanewise_make_sim_executor(lanewise::Model const* model) {
  return new lanewise::sim::SimGridExecutor(*model);
}

char const* lanewise_sim_version() {
  static auto const version = lanewise::sim::simgrid_version();
  return version.c_str();
}
