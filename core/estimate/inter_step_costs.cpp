#include "core/estimate/inter_step_costs.hpp"

#include <algorithm>

#include "core/estimate/demands.hpp"
#include "core/model/resources/figures.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/plan/fused_kernel.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

Seconds start_of_fused_kernel(Model const& model, std::vector<Step> const& steps, bool uses_ll) {
  if (!uses_ll && !fits_fused_kernel(steps, model.machine())) return Seconds(0);
  return (uses_ll ? overheads::kLLStart : overheads::kFusedKernelStart) * model.assumed()(Parameter::EngineStart);
}

}  // namespace

InterStepCosts::InterStepCosts(Model const& model, std::vector<Step> const& steps, StepDemands& demands,
                               EngineConcurrency& engines, bool uses_ll)
    : model_(model),
      steps_(steps),
      demands_(demands),
      engines_(engines),
      uses_ll_(uses_ll),
      kernel_start_(start_of_fused_kernel(model, steps, uses_ll)),
      reductions_fuse_(std::none_of(steps.begin(), steps.end(), [](Step const& step) {
        return step.reads && step.from != step.to && !by_kernel(step.op);
      })) {
  for (auto const& demand : demands) paths_.push_back(demand.path);
}

void InterStepCosts::add_to(std::size_t i) {
  auto const& step = steps_[i];
  auto& demand = demands_[i];
  Seconds handover{0};
  for (auto const before : step.after)
    handover = std::max(handover, model_.handover(step.from, steps_[index(before)].way, step.way));
  if (auto const* before = fused_predecessor(step))
    continue_kernel(demand, before);
  else if (uses_ll_ && !step.after.empty())
    demand.start = demand.busy = Seconds(0);  // its kernel runs already
  else
    demand.start += handover + wait_before(i) * model_.assumed()(Parameter::EngineStart);
  if (step.after.empty()) demand.start += kernel_start_;
}

InterStepCosts::Agent InterStepCosts::agent_of(Step const& step) {
  if (step.work > Seconds(0)) return Agent::Kernel;
  switch (step.way.mechanism) {
    case Mechanism::Local:
    case Mechanism::Nvlink:
    case Mechanism::PcieP2p:
    case Mechanism::HostDma: return by_kernel(step.op) ? Agent::Kernel : Agent::Engine;
    default: return Agent::Other;
  }
}

bool InterStepCosts::touches_host(Step const& step) const {
  return !gpu_at(model_.machine(), step.from) || !gpu_at(model_.machine(), step.to);
}

std::optional<PciId> InterStepCosts::source_or_target(Step const& step) const {
  auto const from = gpu_at(model_.machine(), step.from);
  return from ? from : gpu_at(model_.machine(), step.to);
}

std::optional<PciId> InterStepCosts::gpu_of_agent(Step const& step) const {
  auto const from = gpu_at(model_.machine(), step.from);
  auto const to = gpu_at(model_.machine(), step.to);
  // Copies over NVLink use the source's engine, in either GPU's stream.
  bool const source_copies = step.op == Op::Copy && step.way.mechanism == Mechanism::Nvlink;
  return from && !(to && step.way.drive == Drive::Pull && !source_copies) ? from : to;
}

Seconds InterStepCosts::wait_before(std::size_t i) {
  auto const& step = steps_[i];
  if (step.after.empty()) return Seconds(0);
  if (agent_of(step) == Agent::Kernel && step.work == Seconds(0)) return wait_of_kernel(step);
  if (agent_of(step) == Agent::Engine && step.way.mechanism != Mechanism::Local) return wait_of_copy(i);
  return Seconds(0);
}

// A kernel waits by an event for a copy out of another GPU or into its own, and for another GPU's kernel if one of the
// two touches host memory. Otherwise the kernels wait for one another inside the program that they are part of.
Seconds InterStepCosts::wait_of_kernel(Step const& step) const {
  auto const gpu = source_or_target(step);
  bool const waits =
      gpu && std::any_of(step.after.begin(), step.after.end(), [&](StepId id) {
        auto const& before = steps_[index(id)];
        auto const agent = agent_of(before);
        if (agent == Agent::Engine) return gpu_at(model_.machine(), before.from) != gpu;
        return agent == Agent::Kernel && gpu_of_agent(before) != gpu && (touches_host(before) || touches_host(step));
      });
  return waits ? figures::chunk_gap(model_.machine().part_of(*gpu)) : Seconds(0);
}

// A copy waits by an event for another GPU; one out of a GPU also waits for work that its engine did not do itself.
Seconds InterStepCosts::wait_of_copy(std::size_t i) {
  auto const& step = steps_[i];
  auto const gpu = gpu_of_agent(step);
  if (!gpu) return Seconds(0);
  auto const* part = model_.machine().part_of(*gpu);
  auto const gap = figures::chunk_gap(part);
  bool const is_out = gpu_at(model_.machine(), step.from).has_value();
  bool continues_engine = false;  // the engine did a step before it
  Seconds wait{0};
  for (auto const id : step.after) {
    auto const& before = steps_[index(id)];
    auto const agent = agent_of(before);
    auto const other = agent == Agent::Kernel ? source_or_target(before) : gpu_of_agent(before);
    if (agent == Agent::Other || !other) continue;
    if (agent == Agent::Engine && share_an_engine(demands_[index(id)], demands_[i]))
      continues_engine = true;
    else if (other != gpu)
      wait = std::max(wait, gap);
    else if (is_out)
      wait = std::max(wait, figures::engine_change(part));
  }
  bool const is_to_host = is_out && !gpu_at(model_.machine(), step.to);
  bool const engine_may_switch = is_to_host && continues_engine && wait == Seconds(0);
  if ((wait < gap && !engine_may_switch) || !engines_.has_concurrent_engine(i)) return wait;
  return engine_may_switch ? figures::engine_change(part) : std::max(wait, gap + overheads::kConcurrentEngine);
}

StepId const* InterStepCosts::fused_predecessor(Step const& step) const {
  if (!reductions_fuse_ || !step.reduces || agent_of(step) != Agent::Kernel) return nullptr;
  for (auto const& id : step.after) {
    auto const& before = steps_[index(id)];
    if (before.to == step.to && before.writes == step.writes && before.bytes == step.bytes &&
        (agent_of(before) == Agent::Kernel || before.from == before.to))
      return &id;
  }
  return nullptr;
}

void InterStepCosts::continue_kernel(StepDemand& demand, StepId const* before) const {
  demand.start = Seconds(0);
  demand.busy = Seconds(0);
  Seconds paid{0};
  for (; before != nullptr; before = fused_predecessor(steps_[index(*before)]))
    paid = std::max(paid, paths_[index(*before)]);
  demand.path = std::max(demand.path - paid, Seconds(0));
}

}  // namespace lanewise
