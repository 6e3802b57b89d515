#include "core/estimate/demands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/estimate/engine_concurrency.hpp"
#include "core/estimate/folded_resources.hpp"
#include "core/estimate/inter_step_costs.hpp"
#include "core/estimate/link_queues.hpp"
#include "core/estimate/step_kinds.hpp"
#include "core/model/lowering/path_builder.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/plan/ll_protocol.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// Whether a step goes through a ring of chunk buffers in a third place.
template <class AnyDemand>
bool is_ring(Step const& step, AnyDemand const& demand) {
  bool const is_staged = step.way.mechanism == Mechanism::HostStaged || step.way.mechanism == Mechanism::NvlinkRelay;
  return is_staged && !step.way.by_driver && demand.chunk > Bytes(0) && step.bytes > demand.chunk;
}

// The rate of a ring while other engines of its GPUs are busy: each chunk waits longer for the other GPU.
template <class AnyDemand>
BytesPerSecond cap_with_busy_engines(Model const& model, AnyDemand const& ring) {
  return ring.chunk / (ring.chunk / ring.cap + overheads::kConcurrentEngine * model.assumed()(Parameter::EngineStart));
}

// By the LL protocol the source stores, whatever the step's op says, and the target polls the data. Every 4 bytes carry
// a flag of 4 bytes, so the link carries twice as much.
Demand ll_demand(Model const& model, Step step) {
  if (step.from == step.to) return demand_of(model, step);
  step.op = Op::Write;
  step.way.drive = Drive::Push;
  auto demand = demand_of(model, step);
  constexpr double kLLOverhead = 2;
  PathBuilder(model.lowering_target(), demand).scale_uses(kLLOverhead);
  demand.cap = demand.cap * (1 / kLLOverhead);
  demand.path = demand.path * kLLOverhead;
  return demand;
}

Demand require_known(Model const& model, Step const& step, Demand demand) {
  if (demand.unknown)
    throw PlanError(fmt::format("transfer '{}' cannot be simulated: nobody says {}", step.transfer,
                                model.resources().at(*demand.unknown).missing));
  return demand;
}

// Few steps are lowered as fast as their kinds are found.
constexpr std::size_t kMinStepsOfKinds = 64;

StepDemands demands_alone(Model const& model, std::vector<Step> const& steps) {
  bool const uses_ll = uses_ll_protocol(steps);
  auto const lowered = [&](Step const& step) {
    return uses_ll ? require_known(model, step, ll_demand(model, step)) : known_demand_of(model, step);
  };
  StepDemands demands(steps.size());
  if (steps.size() < kMinStepsOfKinds) {
    for (auto const& step : steps) demands.add(lowered(step));
    return demands;
  }
  StepKinds kinds(model);
  std::vector<std::optional<MovedDemand>> of_kind;
  for (auto const& step : steps) {
    auto const found = kinds.of(step);
    if (found && !found->is_new && of_kind[found->kind]) {
      of_kind[found->kind]->add_to(demands, model.classes(), step);
      continue;
    }
    auto const demand = lowered(step);
    demands.add(demand);
    if (found && found->is_new) of_kind.push_back(MovedDemand::of(model, step, demand));
  }
  return demands;
}

// Of a step that ends in host memory.
bool comes_from_its_host(Machine const& machine, Step const& step) {
  return std::holds_alternative<NumaId>(step.from) && machine.host_of(step.from) == machine.host_of(step.to);
}

}  // namespace

Demand demand_of(Model const& model, Step const& step) {
  if (step.work > Seconds(0)) {
    Demand demand;
    // Of a library's kernel, told by its thread blocks, it is the time of its protocol, which differs from host to
    // host.
    bool const is_of_library = step.way.blocks > 0;
    auto const& assumed = model.assumed();
    demand.start =
        step.work * (is_of_library ? assumed(Parameter::LibrarySteps) * assumed(Parameter::LibraryMessages) : 1.0);
    demand.busy = demand.start;
    if (auto const gpu = gpu_at(model.machine(), step.from))
      demand.engines.push_back(model.resources().multiprocessors(*gpu));
    return demand;
  }
  auto demand = model.lower(step.from, step.to, step.bytes, step.op, step.way);
  if (step.reduces) {
    PathBuilder path(model.lowering_target(), demand);
    if (auto const gpu = gpu_at(model.machine(), step.to))
      path.use_device_memory(*gpu, 2);
    else if (auto const* memory = std::get_if<NumaId>(&step.to))
      demand.path += path.add_by_core(*memory, step.bytes,
                                      comes_from_its_host(model.machine(), step) ? Addend::OfHost : Addend::Arrived);
  }
  return demand;
}

Demand known_demand_of(Model const& model, Step const& step) {
  return require_known(model, step, demand_of(model, step));
}

Demand demand_with_busy_engines(Model const& model, Step const& step) {
  auto demand = demand_of(model, step);
  if (is_ring(step, demand)) demand.cap = cap_with_busy_engines(model, demand);
  return demand;
}

StepDemands demands_of(Model const& model, std::vector<Step> const& steps, Folding const& folding) {
  auto alone = demands_alone(model, steps);
  if (!folding.empty()) alone = FoldedResources(model, folding).folded(alone, steps);
  return demands_together(model, steps, std::move(alone));
}

StepDemands demands_together(Model const& model, std::vector<Step> const& steps, StepDemands demands) {
  EngineConcurrency engines(model, steps, demands);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_ring(steps[i], demands[i]) && engines.has_concurrent_engine(i))
      demands[i].cap = cap_with_busy_engines(model, demands[i]);
  add_link_queues(model, steps, demands);
  // Steps with `reads` are a collective's, which may be one kernel on each GPU even if none waits for another.
  bool const are_independent =
      std::all_of(steps.begin(), steps.end(), [](Step const& step) { return step.after.empty(); });
  if (are_independent && (steps.empty() || !steps.front().reads)) return demands;
  InterStepCosts costs(model, steps, demands, engines, uses_ll_protocol(steps));
  for (std::size_t i = 0; i < steps.size(); ++i) costs.add_to(i);
  return demands;
}

bool share_an_engine(StepDemand const& one, StepDemand const& other) {
  return std::any_of(one.engines.begin(), one.engines.end(), [&](EngineId engine) {
    return std::find(other.engines.begin(), other.engines.end(), engine) != other.engines.end();
  });
}

}  // namespace lanewise
