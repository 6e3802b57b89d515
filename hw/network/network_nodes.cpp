// The processes of a plan over the network: the first runs plans, the others serve it.
#include "hw/network/network_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/io/interrupt.hpp"
#include "core/plan/run_environment.hpp"
#include "core/plan/run_samples.hpp"
#include "hw/network/network_process.hpp"
#include "hw/program/plan_meter.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// What the first process broadcasts instead of a plan when there are no more.
constexpr char const* kEnd = "end";

std::string joined(std::vector<std::string> const& texts) { return fmt::format("{}", fmt::join(texts, "; ")); }

// "2 nodes on vm"; empty: each node has a host of its own.
std::string shared_hosts(Group const& group, std::size_t nodes) {
  std::vector<std::string> shared;
  for (auto const& [host, count] : nodes_of_hosts(group.hosts(), ranks_of_nodes(group.hosts(), nodes)))
    if (count > 1) shared.push_back(fmt::format("{} nodes on {}", count, host));
  return joined(shared);
}

// What a trace or a measurement says of the processes it ran in.
std::map<std::string, std::string> group_environment(Group const& group, std::size_t nodes) {
  std::map<std::string, std::string> environment{{"processes", fmt::format("{}, {}", group.size(), group.about())}};
  if (auto shared = shared_hosts(group, nodes); !shared.empty()) environment[kSharedHostKey] = std::move(shared);
  return environment;
}

RunTimes times_of(NetworkSample const& sample) {
  RunTimes times;
  for (auto const& span : sample.spans) {
    times.steps.push_back({span.start, span.end});
    times.makespan = std::max(times.makespan, span.end);
  }
  return times;
}

// One run at a time of a plan. Memory is registered once (RegionCache); connections are made for each run.
class NetworkRuns : public RepeatableRun {
 public:
  NetworkRuns(Plan const& plan, NetworkPlan network_plan, Group& group, NetworkProcess& process)
      : plan_(plan), network_plan_(std::move(network_plan)), group_(group), process_(process) {}

  RunTimes once() override {
    group_.broadcast(to_text(network_plan_));
    auto const result = process_.run(network_plan_);
    refuse_wrong_bytes(plan_, result.mismatches);
    return times_of(result.samples.front());
  }

 private:
  Plan const& plan_;
  NetworkPlan network_plan_;
  Group& group_;
  NetworkProcess& process_;
};

class NetworkExecutor : public Executor {
 public:
  NetworkExecutor(Model const& model, HardwareSettings settings, Completion completion, Group& group,
                  NetworkProcess& process)
      : model_(model), settings_(std::move(settings)), completion_(completion), group_(group), process_(process) {}

  Trace run(Plan const& plan) override {
    auto const network_plan = make_network_plan(plan, model_, settings_);
    group_.broadcast(to_text(network_plan));
    auto const result = process_.run(network_plan);
    Trace trace;
    trace.mode = "hw";
    trace.machine = plan.machine;
    trace.fingerprint = plan.fingerprint;
    trace.environment = environment(result, network_plan.carrier);
    RunSamples samples(plan);
    samples.add_mismatches(result.mismatches);
    for (auto const& sample : result.samples) samples.add(times_of(sample));
    samples.summarise(trace);
    return trace;
  }

  std::unique_ptr<RepeatableRun> prepare(Plan const& plan) override {
    auto lowered = make_network_plan(plan, model_, {{0, 0}, settings_.drives});
    group_.broadcast(to_text(lowered));
    process_.run(lowered);  // what cannot run here is refused now
    lowered.repeat = 1;
    return std::make_unique<NetworkRuns>(plan, std::move(lowered), group_, process_);
  }
  [[nodiscard]] bool is_exact() const override { return false; }

 private:
  [[nodiscard]] std::map<std::string, std::string> environment(NetworkResult const& result, Carrier carrier) const {
    std::map<std::string, std::string> environment{
        {"executor", std::string(to_string(carrier))},
        {"repetitions", std::to_string(settings_.repetition.repeat)},
        {"completion", completion_ == Completion::Polling ? "polling" : "events"},
        {"devices", joined(result.devices)},
    };
    if (!result.faults.empty()) environment["faults"] = joined(result.faults);
    environment.merge(group_environment(group_, model_.machine().hosts.size()));
    return environment;
  }

  Model const& model_;
  HardwareSettings settings_;
  Completion completion_;
  Group& group_;
  NetworkProcess& process_;
};

class NetworkNodes : public Nodes {
 public:
  NetworkNodes(std::unique_ptr<Group> group, Completion completion)
      : group_(std::move(group)), process_(*group_, completion), completion_(completion) {}
  NetworkNodes(NetworkNodes const&) = delete;
  NetworkNodes& operator=(NetworkNodes const&) = delete;
  ~NetworkNodes() override {
    try {
      if (is_first()) group_->broadcast(kEnd);
    } catch (std::exception const&) {  // the launcher ends the other processes
    }
  }

  [[nodiscard]] int processes() const override { return group_->size(); }
  [[nodiscard]] bool is_first() const override { return group_->rank() == 0; }
  [[nodiscard]] std::vector<std::string> const& hosts() const override { return group_->hosts(); }
  [[nodiscard]] std::vector<int> first_of_nodes(std::size_t nodes) const override {
    std::vector<int> first;
    for (auto const& ranks : ranks_of_nodes(group_->hosts(), nodes)) first.push_back(ranks.front());
    return first;
  }
  std::vector<std::string> gather(std::string text) override { return group_->all_gather(std::move(text)); }

  void serve() override {
    InterruptScope const interruptible;
    for (;;) {
      auto const text = group_->broadcast({});
      if (text == kEnd) return;
      try {
        process_.run(network_plan_from_text(text));
      } catch (Interrupted const&) {
        throw;
      } catch (Error const&) {  // the first process has the same error and reports it
      }
    }
  }

  std::unique_ptr<Executor> make_executor(Model const& model, HardwareSettings const& settings) override {
    ranks_of_nodes(group_->hosts(), model.machine().hosts.size());
    return std::make_unique<NetworkExecutor>(model, settings, completion_, *group_, process_);
  }

  std::unique_ptr<Meter> make_meter(Model const& model, HardwareSettings const& settings) override {
    return std::make_unique<PlanMeter>(
        model, settings.repetition, make_executor(model, settings),
        [environment = group_environment(*group_, model.machine().hosts.size())] { return environment; });
  }

 private:
  std::unique_ptr<Group> group_;
  NetworkProcess process_;
  Completion completion_;
};

}  // namespace

std::unique_ptr<Nodes> make_network_nodes(std::unique_ptr<Group> group, Completion completion) {
  return std::make_unique<NetworkNodes>(std::move(group), completion);
}

}  // namespace lanewise::hw
