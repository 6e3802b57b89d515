#include "core/estimate/engine_concurrency.hpp"

#include <algorithm>

#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

// Ancestors take 2 MiB then.
constexpr std::size_t kMaxOrdered = 4096;

}  // namespace

EngineConcurrency::Gpus EngineConcurrency::gpus_of(Step const& step) const {
  Gpus gpus;
  for (auto const& place : {step.from, step.to})
    if (auto const gpu = gpu_at(model_.machine(), place);
        gpu && std::find(gpus.begin(), gpus.end(), *gpu) == gpus.end())
      gpus.push_back(*gpu);
  for (auto const& relay : {step.way.relay, step.way.relay_to})
    if (relay) gpus.push_back(*relay);
  return gpus;
}

EngineConcurrency::EngineRole EngineConcurrency::role_of(Step const& step, PciId gpu, int slots) const {
  if (slots < 2) return EngineRole::Any;
  auto const from = gpu_at(model_.machine(), step.from);
  auto const to = gpu_at(model_.machine(), step.to);
  constexpr int kOneEachWay = 2;
  if (slots > kOneEachWay) {
    if (from == to) return EngineRole::Within;
    bool const through_host =
        step.way.mechanism == Mechanism::HostStaged || step.way.mechanism == Mechanism::SharedHost;
    if (from && to && !through_host) return EngineRole::Peers;
  }
  return to == gpu && from != gpu ? EngineRole::In : EngineRole::Out;
}

EngineConcurrency::EngineUses EngineConcurrency::uses_of(std::size_t step, PciId gpu) const {
  auto const& resources = model_.resources();
  EngineUses uses;
  for (auto const engine : demands_[step].engines)
    if (engine == resources.copy_engines(gpu) || engine == resources.peer_copy_engines(gpu))
      uses.push_back({step, engine, role_of(steps_[step], gpu, model_.slots(engine))});
  return uses;
}

void EngineConcurrency::examine() {
  is_examined_ = true;
  uses_of_gpu_.resize(model_.machine().functions.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (demands_[i].engines.empty()) continue;
    for (auto const gpu : gpus_of(steps_[i]))
      for (auto const& use : uses_of(i, gpu)) uses_of_gpu_[index(gpu)].push_back(use);
  }
  bool const any_order =
      std::any_of(steps_.begin(), steps_.end(), [](Step const& step) { return !step.after.empty(); });
  if (any_order && steps_.size() <= kMaxOrdered) ancestors_.emplace(dag_of_after(steps_));
}

bool EngineConcurrency::has_concurrent_engine(std::size_t step) {
  if (!is_examined_) examine();
  for (auto const gpu : gpus_of(steps_[step]))
    for (auto const& own : uses_of(step, gpu))
      for (auto const& other : uses_of_gpu_[index(gpu)])
        if ((other.engine != own.engine || other.role != own.role) && other.step != step &&
            !(ancestors_ && ancestors_->are_ordered(step, other.step)))
          return true;
  return false;
}

}  // namespace lanewise
