#include "core/estimate/demands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/estimate/engine_concurrency.hpp"
#include "core/io/error.hpp"
#include "core/model/figures.hpp"
#include "core/model/overheads.hpp"
#include "core/model/lowering/path_builder.hpp"
#include "core/plan/fused_kernel.hpp"
#include "core/plan/ll_protocol.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

// What lies between steps, which none of them has alone: added to their demands.
class Between {
 public:
  Between(Model const& model, std::vector<Step> const& steps, std::vector<Demand>& demands, EngineConcurrency& engines,
          bool in_lines)
      : model_(model),
        steps_(steps),
        demands_(demands),
        engines_(engines),
        in_lines_(in_lines),
        form_start_(form_start(model, steps, in_lines)),
        additions_join_(std::none_of(steps.begin(), steps.end(), [](Step const& step) {
          return step.reads && step.from != step.to && !by_kernel(step.op);
        })) {
    for (auto const& demand : demands) paths_.push_back(demand.path);
  }

  void add_to(std::size_t i) {
    auto const& step = steps_[i];
    auto& demand = demands_[i];
    Seconds noticed{0};
    for (auto const before : step.after)
      noticed = std::max(noticed, model_.handover(step.from, steps_[index(before)].way, step.way));
    if (auto const* before = same_kernel(step))
      continue_kernel(demand, before);
    else if (in_lines_ && !step.after.empty())
      demand.start = demand.busy = Seconds(0);  // its kernel runs already
    else
      demand.start += noticed + engine_change(i) * model_.assumed()(Parameter::EngineStart);
    if (step.after.empty()) demand.start += form_start_;
  }

 private:
  // What passes before the first of steps that are one kernel on each GPU.
  static Seconds form_start(Model const& model, std::vector<Step> const& steps, bool in_lines) {
    if (!in_lines && !fits_fused_kernel(steps, model.machine())) return Seconds(0);
    return (in_lines ? overheads::kLLStart : overheads::kFusedKernelStart) * model.assumed()(Parameter::EngineStart);
  }

  // Who does a step: one of its GPU's copy engines or its multiprocessors; others do not wait by events.
  enum class Doer : std::uint8_t { Engine, Kernel, Other };
  static Doer doer_of(Step const& step) {
    if (step.work > Seconds(0)) return Doer::Kernel;
    switch (step.way.mechanism) {
      case Mechanism::Local:
      case Mechanism::Nvlink:
      case Mechanism::PcieP2p:
      case Mechanism::HostDma: return by_kernel(step.op) ? Doer::Kernel : Doer::Engine;
      default: return Doer::Other;
    }
  }
  [[nodiscard]] bool touches_host(Step const& step) const {
    return !gpu_at(model_.machine(), step.from) || !gpu_at(model_.machine(), step.to);
  }

  // The GPU that has the bytes, or gets them from host memory.
  [[nodiscard]] std::optional<PciId> source_or_target(Step const& step) const {
    auto const from = gpu_at(model_.machine(), step.from);
    return from ? from : gpu_at(model_.machine(), step.to);
  }

  // Whose engine or kernel does a step; none where a CPU does.
  [[nodiscard]] std::optional<PciId> engine_of(Step const& step) const {
    auto const from = gpu_at(model_.machine(), step.from);
    auto const to = gpu_at(model_.machine(), step.to);
    return from && !(to && step.way.drive == Drive::Pull) ? from : to;
  }

  [[nodiscard]] Seconds engine_change(std::size_t i) {
    auto const& step = steps_[i];
    if (step.after.empty()) return Seconds(0);
    if (doer_of(step) == Doer::Kernel && step.work == Seconds(0)) return kernel_change(step);
    if (doer_of(step) == Doer::Engine && step.way.mechanism != Mechanism::Local) return copy_change(i);
    return Seconds(0);
  }
  // A kernel waits by an event for a copy out of another GPU or into its own, and for another GPU's kernel where one of
  // the two touches host memory; else kernels wait for one another within what they run as.
  [[nodiscard]] Seconds kernel_change(Step const& step) const {
    auto const gpu = source_or_target(step);
    bool const waits =
        gpu && std::any_of(step.after.begin(), step.after.end(), [&](StepId id) {
          auto const& before = steps_[index(id)];
          auto const doer = doer_of(before);
          if (doer == Doer::Engine) return gpu_at(model_.machine(), before.from) != gpu;
          return doer == Doer::Kernel && engine_of(before) != gpu && (touches_host(before) || touches_host(step));
        });
    return waits ? figures::chunk_gap(model_.machine().part_of(*gpu)) : Seconds(0);
  }
  // A copy waits by an event for another GPU, and one out of a GPU for what its engine did not do.
  [[nodiscard]] Seconds copy_change(std::size_t i) {
    auto const& step = steps_[i];
    auto const gpu = engine_of(step);
    if (!gpu) return Seconds(0);
    auto const* part = model_.machine().part_of(*gpu);
    auto const gap = figures::chunk_gap(part);
    bool const out = gpu_at(model_.machine(), step.from).has_value();
    bool goes_on = false;  // behind another in its engine
    Seconds change{0};
    for (auto const id : step.after) {
      auto const& before = steps_[index(id)];
      auto const doer = doer_of(before);
      auto const other = doer == Doer::Kernel ? source_or_target(before) : engine_of(before);
      if (doer == Doer::Other || !other) continue;
      if (doer == Doer::Engine && share_an_engine(demands_[index(id)], demands_[i]))
        goes_on = true;
      else if (other != gpu)
        change = std::max(change, gap);
      else if (out)
        change = std::max(change, figures::engine_change(part));
    }
    bool const to_host = out && !gpu_at(model_.machine(), step.to);
    bool const finds_it_changed = to_host && goes_on && change == Seconds(0);
    if ((change < gap && !finds_it_changed) || !engines_.has_concurrent_engine(i)) return change;
    return finds_it_changed ? figures::engine_change(part) : std::max(change, gap + overheads::kConcurrentEngine);
  }

  // Of a kernel that adds to what another step put in the same place: that one, as a kernel that does both reads all
  // sources at once. Where copy engines take part, every addition is a kernel of its own.
  [[nodiscard]] StepId const* same_kernel(Step const& step) const {
    if (!additions_join_ || !step.reduces || !by_kernel(step.op)) return nullptr;
    for (auto const& id : step.after) {
      auto const& before = steps_[index(id)];
      if (before.to == step.to && before.writes == step.writes && before.bytes == step.bytes &&
          (by_kernel(before.op) || before.from == before.to))
        return &id;
    }
    return nullptr;
  }
  void continue_kernel(Demand& demand, StepId const* before) const {
    demand.start = Seconds(0);
    demand.busy = Seconds(0);
    Seconds passed{0};
    for (; before != nullptr; before = same_kernel(steps_[index(*before)]))
      passed = std::max(passed, paths_[index(*before)]);
    demand.path = std::max(demand.path - passed, Seconds(0));
  }

  Model const& model_;
  std::vector<Step> const& steps_;
  std::vector<Demand>& demands_;
  EngineConcurrency& engines_;
  bool in_lines_;
  Seconds form_start_;
  bool additions_join_;
  std::vector<Seconds> paths_;  // of each step alone
};

bool is_ring(Step const& step, Demand const& demand) {
  bool const passes_on = step.way.mechanism == Mechanism::HostStaged || step.way.mechanism == Mechanism::NvlinkRelay;
  return passes_on && !step.way.by_driver && demand.chunk > Bytes(0) && step.bytes > demand.chunk;
}

// What a ring moves while other engines of its GPUs are at work: each of its chunks waits for another GPU.
BytesPerSecond cap_beside_others(Model const& model, Demand const& ring) {
  return ring.chunk / (ring.chunk / ring.cap + overheads::kConcurrentEngine * model.assumed()(Parameter::EngineStart));
}

// A step in lines is stored by its source, whoever would have asked for it, and seen by a poll.
Demand ll_demand(Model const& model, Step step) {
  if (step.from == step.to) return demand_of(model, step);
  step.op = Op::Write;
  step.way.drive = Drive::Push;
  auto demand = demand_of(model, step);
  constexpr double kOfLines = 2;
  PathBuilder(model, demand).scale_uses(kOfLines);
  demand.cap = demand.cap * (1 / kOfLines);
  demand.path = demand.path * 2.0;
  return demand;
}

}  // namespace

Demand demand_of(Model const& model, Step const& step) {
  if (step.work > Seconds(0)) {
    Demand demand;
    demand.start = step.work;
    demand.busy = step.work;
    if (auto const gpu = gpu_at(model.machine(), step.from))
      demand.engines.push_back(model.resources().multiprocessors(*gpu));
    return demand;
  }
  auto demand = model.lower(step.from, step.to, step.bytes, step.op, step.way);
  if (step.reduces) {
    PathBuilder path(model, demand);
    if (auto const gpu = gpu_at(model.machine(), step.to)) path.use_device_memory(*gpu, 2);
  }
  return demand;
}

Demand demand_with_busy_engines(Model const& model, Step const& step) {
  auto demand = demand_of(model, step);
  if (is_ring(step, demand)) demand.cap = cap_beside_others(model, demand);
  return demand;
}

std::vector<Demand> demands_of(Model const& model, std::vector<Step> const& steps) {
  bool const in_lines = uses_ll_protocol(steps);
  std::vector<Demand> demands;
  demands.reserve(steps.size());
  for (auto const& step : steps) {
    demands.push_back(in_lines ? ll_demand(model, step) : demand_of(model, step));
    if (demands.back().unknown)
      throw PlanError(fmt::format("transfer '{}' cannot be simulated: nobody says {}", step.transfer,
                                  model.resources().at(*demands.back().unknown).missing));
  }
  EngineConcurrency engines(model, steps, demands);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_ring(steps[i], demands[i]) && engines.has_concurrent_engine(i)) demands[i].cap = cap_beside_others(model, demands[i]);
  // Steps of shared buffers are a collective's.
  bool const alone = std::all_of(steps.begin(), steps.end(), [](Step const& step) { return step.after.empty(); });
  if (alone && (steps.empty() || !steps.front().reads)) return demands;
  Between between(model, steps, demands, engines, in_lines);
  for (std::size_t i = 0; i < steps.size(); ++i) between.add_to(i);
  return demands;
}

bool share_an_engine(Demand const& one, Demand const& other) {
  return std::any_of(one.engines.begin(), one.engines.end(), [&](EngineId engine) {
    return std::find(other.engines.begin(), other.engines.end(), engine) != other.engines.end();
  });
}

}  // namespace lanewise
