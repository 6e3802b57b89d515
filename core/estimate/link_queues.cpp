#include "core/estimate/link_queues.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "core/model/resources/overheads.hpp"
#include "core/plan/dag.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

constexpr Bytes kLargestQueue = std::max(overheads::kPcieQueue, overheads::kNvlinkQueueOfOwnRequests);
// Every small step is held against every large one.
constexpr std::size_t kMaxSteps = 4096;
// Uses of a link below this weight are requests for data that go the other way.
constexpr double kDataWeight = 0.5;

bool is_transfer(Step const& step) { return !step.reads && !step.writes && step.work == Seconds(0); }

bool is_bulk(Step const& step) { return is_transfer(step) && step.bytes >= kLargestQueue; }

bool is_small(Step const& step) { return is_transfer(step) && step.bytes > Bytes(0) && step.bytes < kLargestQueue; }

bool is_link(Resource const& resource) {
  return resource.kind == ResourceKind::PcieLink || resource.kind == ResourceKind::Nvlink;
}

// The two directions of a link follow one another among the resources.
ResourceId other_direction(Resources const& resources, ResourceId id) {
  auto const name = std::string_view(resources.at(id).name);
  auto const last = name.substr(name.rfind('.') + 1);
  bool const is_first = last == "up" || last == "out" || last == "forth";
  return ResourceId(is_first ? index(id) + 1 : index(id) - 1);
}

class LinkQueues {
 public:
  LinkQueues(Model const& model, std::vector<Step> const& steps, StepDemands const& demands)
      : model_(model), steps_(steps), demands_(demands) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (is_bulk(steps[i])) add_loads(i);
    if (std::any_of(steps.begin(), steps.end(), [](Step const& step) { return !step.after.empty(); }))
      ancestors_.emplace(dag_of_after(steps));
  }

  // A transfer that saturates several hops fills the buffers before one of them, so the longest wait of a direction
  // counts. The two directions of NVLink add up. Those of PCIe do not: beside copies both ways, which the root port
  // slows
  // (`host_duplex`), a read waits hardly longer than beside one (2 x H100).
  [[nodiscard]] Seconds wait_of(std::size_t small) const {
    Seconds data{0};
    Seconds answer{0};
    bool adds_up = true;
    for (auto const& use : demands_[small].uses) {
      auto const& resource = model_.resources().at(use.resource);
      if (use.weight.ratio() < kDataWeight || !is_link(resource)) continue;
      if (resource.kind == ResourceKind::PcieLink) adds_up = false;
      data = std::max(data, wait_on(small, use.resource, false));
      if (is_answered(steps_[small]))
        answer = std::max(answer, wait_on(small, other_direction(model_.resources(), use.resource), true));
    }
    return (adds_up ? data + answer : std::max(data, answer)) * model_.assumed()(Parameter::PathLatency);
  }

 private:
  // Reads wait for data, copies over NVLink and with host memory for the end of their last write.
  static bool is_answered(Step const& step) {
    if (step.way.drive == Drive::Pull || std::holds_alternative<NumaId>(step.from)) return true;
    return step.op == Op::Copy && (step.way.mechanism == Mechanism::Nvlink || step.way.mechanism == Mechanism::HostDma);
  }

  [[nodiscard]] Seconds wait_on(std::size_t small, ResourceId link, bool of_answer) const {
    auto const capacity = model_.resources().capacity(link, model_.assumed());
    auto const found = loads_.find(link);
    if (!capacity || found == loads_.end()) return Seconds(0);
    double load = 0;
    Bytes outstanding{0};
    Bytes queue{0};
    for (auto const& [bulk, rate] : found->second) {
      if (!is_meanwhile(small, bulk)) continue;
      load += rate;
      outstanding += steps_[bulk].bytes;
      queue = std::max(queue, queue_of(small, bulk, link, of_answer));
    }
    if (load < overheads::kSaturated * capacity->value()) return Seconds(0);
    return std::max(Bytes(0), std::min(queue, outstanding) - steps_[small].bytes) / *capacity;
  }

  // What a bulk transfer alone takes of each of its links.
  void add_loads(std::size_t bulk) {
    auto rate = demands_[bulk].cap;
    for (auto const& use : demands_[bulk].uses)
      if (auto const capacity = model_.resources().capacity(use.resource, model_.assumed()))
        rate = std::min(rate, *capacity * (1 / use.weight.ratio()));
    for (auto const& use : demands_[bulk].uses) {
      auto const load = rate.value() * use.weight.ratio();
      if (load > 0 && is_link(model_.resources().at(use.resource))) loads_[use.resource].push_back({bulk, load});
    }
  }

  [[nodiscard]] Bytes queue_of(std::size_t small, std::size_t bulk, ResourceId link, bool of_answer) const {
    if (model_.resources().at(link).kind == ResourceKind::PcieLink) return overheads::kPcieQueue;
    // The other direction of a load is that of its requests, which leave the GPU that asks behind what it sends itself.
    auto const& step = steps_[small];
    bool const requests = of_answer && step.way.drive == Drive::Pull && by_kernel(step.op);
    bool const own = steps_[bulk].from == step.to;
    return requests && own ? overheads::kNvlinkQueueOfOwnRequests : overheads::kNvlinkQueue;
  }

  [[nodiscard]] bool is_meanwhile(std::size_t small, std::size_t bulk) const {
    if (ancestors_ && ancestors_->are_ordered(small, bulk)) return false;
    for (auto const engine : demands_[small].engines)
      for (auto const other : demands_[bulk].engines)
        if (engine == other && model_.slots(engine) == 1) return false;
    return true;
  }

  Model const& model_;
  std::vector<Step> const& steps_;
  StepDemands const& demands_;
  struct Load {
    std::size_t bulk = 0;  // a step
    double bytes_per_second = 0;
  };
  std::unordered_map<ResourceId, std::vector<Load>> loads_;  // on a link, by ascending steps
  std::optional<Ancestors> ancestors_;
};

}  // namespace

void add_link_queues(Model const& model, std::vector<Step> const& steps, StepDemands& demands) {
  if (steps.size() > kMaxSteps || std::none_of(steps.begin(), steps.end(), is_small) ||
      std::none_of(steps.begin(), steps.end(), is_bulk))
    return;
  LinkQueues const queues(model, steps, demands);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_small(steps[i])) demands[i].path += queues.wait_of(i);
}

}  // namespace lanewise
