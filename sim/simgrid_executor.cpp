#include "sim/simgrid_executor.hpp"

#include <algorithm>
#include <numeric>

#include "core/estimate/demands.hpp"
#include "core/estimate/engine_queue.hpp"
#include "core/estimate/posted_writes.hpp"
#include "core/io/json.hpp"
#include "core/plan/dag_runner.hpp"
#include "sim/simulation.hpp"

namespace lanewise::sim {
namespace {

// The plan's demands as links and flows. Each used resource is a link; its capacity is scaled so that every flow's
// weight is a whole number of repetitions.
class Platform {
 public:
  Platform(Model const& model, std::vector<Demand> const& demands, std::vector<Step> const& steps) : model_(model) {
    std::vector<int> divisor(model.resources().count(), 0);
    for (auto const& demand : demands)
      for (auto const& use : demand.uses)
        divisor[index(use.resource)] = std::gcd(divisor[index(use.resource)], use.weight.units());
    std::vector<std::size_t> link_of(model.resources().count(), 0);
    for (std::size_t r = 0; r < divisor.size(); ++r) {
      if (divisor[r] == 0) continue;
      link_of[r] = links_.size();
      resource_of_.push_back(ResourceId(r));
      unit_.push_back(static_cast<double>(divisor[r]) / Weight::kBase);
      links_.push_back({model.capacity(ResourceId(r))->value() / unit_.back()});
    }
    for (std::size_t i = 0; i < demands.size(); ++i) {
      Flow flow;
      for (auto const& use : demands[i].uses)
        flow.uses.push_back({link_of[index(use.resource)], use.weight.units() / divisor[index(use.resource)]});
      if (demands[i].cap < kUnlimited) flow.cap_bytes_per_second = demands[i].cap.value();
      flow.latency_seconds = demands[i].latency().value();
      flow.bytes = static_cast<std::uint64_t>(steps[i].bytes.value());
      flows_.push_back(std::move(flow));
    }
    add_quirks(steps);
  }

  [[nodiscard]] std::vector<SharedLink> const& links() const { return links_; }
  [[nodiscard]] std::vector<Flow> const& flows() const { return flows_; }

  // The bytes that each resource carried, busiest first.
  [[nodiscard]] std::vector<ResourceTrace> usage(SimulationResult const& result) const {
    std::vector<ResourceTrace> traces;
    for (std::size_t i = 0; i < resource_of_.size(); ++i) {
      auto const& resource = model_.resources().at(resource_of_[i]);
      auto const bytes = result.link_bytes[i] * unit_[i];
      add_usage(traces, resource.name, bytes, model_.capacity(resource_of_[i])->value() * result.makespan);
    }
    for (auto const& quirk : quirks_)
      add_usage(traces, quirk.name, result.link_bytes[quirk.link],
                links_[quirk.link].bytes_per_second * result.makespan);
    std::stable_sort(traces.begin(), traces.end(),
                     [](auto const& a, auto const& b) { return a.utilisation > b.utilisation; });
    return traces;
  }

 private:
  static void add_usage(std::vector<ResourceTrace>& traces, std::string const& name, double bytes, double max_bytes) {
    if (bytes > 0) traces.push_back({name, bytes, max_bytes > 0 ? std::min(1.0, bytes / max_bytes) : 0});
  }

  // Links of their own after those of the resources.
  void add_quirks(std::vector<Step> const& steps) {
    for (auto const& limit : posted_write_limits(model_.machine(), steps)) {
      quirks_.push_back({links_.size(), limit.name});
      links_.push_back({limit.capacity.value()});
      for (auto const member : limit.members) flows_[member].uses.push_back({links_.size() - 1, 1});
    }
  }

  Model const& model_;
  std::vector<SharedLink> links_;
  std::vector<ResourceId> resource_of_;
  struct Quirk {
    std::size_t link;
    std::string name;
  };
  std::vector<Quirk> quirks_;
  std::vector<double> unit_;  // of a resource's capacity, per repetition
  std::vector<Flow> flows_;
};

}  // namespace

Trace SimGridExecutor::run(Plan const& plan) {
  auto const demands = demands_of(model_, plan.steps);
  Platform const platform(model_, demands, plan.steps);
  EngineQueue engines(model_, demands);
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
  trace.resources = platform.usage(result);
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
