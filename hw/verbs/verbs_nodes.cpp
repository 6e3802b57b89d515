// The processes of a plan over the network: the first runs plans, the others serve it.
#include "hw/verbs/verbs_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/error.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/plan/step_samples.hpp"
#include "hw/verbs/network_process.hpp"

namespace lanewise::hw {
namespace {

// What the first process broadcasts instead of a plan when there are no more.
constexpr char const* kEnd = "end";

std::string joined(std::vector<std::string> const& texts) { return fmt::format("{}", fmt::join(texts, "; ")); }

class VerbsExecutor : public Executor {
 public:
  VerbsExecutor(Model const& model, Repetition repetition, Completion completion, Group& group, NetworkProcess& process)
      : model_(model), repetition_(repetition), completion_(completion), group_(group), process_(process) {}

  Trace run(Plan const& plan) override {
    auto const network_plan = make_network_plan(plan, model_, repetition_, completion_);
    group_.broadcast(to_text(network_plan));
    auto const result = process_.run(network_plan);
    Trace trace;
    trace.mode = "hw";
    trace.machine = plan.machine;
    trace.fingerprint = plan.fingerprint;
    trace.environment = environment(result);
    trace.makespan = through_json(Seconds(median(makespans(result))));
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      StepSamples samples;
      for (auto const& sample : result.samples) samples.add(sample.spans[i].start, sample.spans[i].end);
      trace.steps.push_back(samples.trace(plan.steps[i], result.mismatches[i]));
    }
    return trace;
  }

 private:
  static std::vector<double> makespans(NetworkResult const& result) {
    std::vector<double> makespans;
    for (auto const& sample : result.samples) {
      double last = 0;
      for (auto const& span : sample.spans) last = std::max(last, span.end.value());
      makespans.push_back(last);
    }
    return makespans;
  }

  [[nodiscard]] std::map<std::string, std::string> environment(NetworkResult const& result) const {
    std::map<std::string, std::string> environment{
        {"executor", "verbs"},
        {"repetitions", std::to_string(repetition_.repeat)},
        {"processes", fmt::format("{}, {}", group_.size(), group_.about())},
        {"completion", completion_ == Completion::Polling ? "polling" : "events"},
        {"devices", joined(result.devices)},
    };
    if (!result.faults.empty()) environment["faults"] = joined(result.faults);
    return environment;
  }

  Model const& model_;
  Repetition repetition_;
  Completion completion_;
  Group& group_;
  NetworkProcess& process_;
};

class VerbsNodes : public Nodes {
 public:
  VerbsNodes(std::unique_ptr<Group> group, MakeGpuMemory make_gpu_memory, Completion completion)
      : group_(std::move(group)), process_(*group_, make_gpu_memory), completion_(completion) {}
  VerbsNodes(VerbsNodes const&) = delete;
  VerbsNodes& operator=(VerbsNodes const&) = delete;
  ~VerbsNodes() override {
    try {
      if (is_first()) group_->broadcast(kEnd);
    } catch (std::exception const&) {  // the launcher ends the other processes
    }
  }

  [[nodiscard]] int processes() const override { return group_->size(); }
  [[nodiscard]] bool is_first() const override { return group_->rank() == 0; }

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

  std::unique_ptr<Executor> make_executor(Model const& model, Repetition repetition) override {
    ranks_of_nodes(group_->hosts(), model.machine().hosts.size());
    return std::make_unique<VerbsExecutor>(model, repetition, completion_, *group_, process_);
  }

 private:
  std::unique_ptr<Group> group_;
  NetworkProcess process_;
  Completion completion_;
};

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::Nodes* lanewise_make_verbs_nodes(lanewise::hw::Group* group, lanewise::hw::MakeGpuMemory make_gpu_memory,
                                               lanewise::hw::Completion completion) {
  return new lanewise::hw::VerbsNodes(std::unique_ptr<lanewise::hw::Group>(group), make_gpu_memory, completion);
}
