#pragma once
// Which copy engines of a GPU may run at the same time in a plan. An engine that waits for another GPU starts later
// while other engines of its GPU are busy.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "core/plan/dag.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

class EngineConcurrency {
 public:
  // The arguments must outlive it. It examines them when it is first asked.
  EngineConcurrency(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands)
      : model_(model), steps_(steps), demands_(demands) {}

  // Whether another engine of the step's GPUs may be busy while the step runs: with a step that need not finish before
  // this one or begin after it. Only `after` counts (in plans of up to 4096 steps), not `order_only`, and durations do
  // not count.
  bool has_concurrent_engine(std::size_t step);

 private:
  // What one engine of a GPU serves. The model counts a GPU's engines as one engine with slots: of two slots, one
  // serves each direction; of more, one serves each of these roles.
  enum class EngineRole : std::uint8_t { Any, Out, In, Peers, Within };
  struct EngineUse {
    std::size_t step = 0;
    EngineId engine{};
    EngineRole role = EngineRole::Any;
  };
  static constexpr std::size_t kMaxGpus = 4;  // source, target and relays
  using Gpus = InlineVector<PciId, kMaxGpus>;
  using EngineUses = InlineVector<EngineUse, 2 * kMaxGpus>;

  void examine();
  [[nodiscard]] Gpus gpus_of(Step const& step) const;
  [[nodiscard]] EngineRole role_of(Step const& step, PciId gpu, int slots) const;
  [[nodiscard]] EngineUses uses_of(std::size_t step, PciId gpu) const;

  Model const& model_;
  std::span<Step const> steps_;
  std::span<StepDemand const> demands_;
  bool is_examined_ = false;
  std::vector<std::vector<EngineUse>> uses_of_gpu_;  // of each PCI function
  std::optional<Ancestors> ancestors_;               // nullopt: any two steps may run at the same time
};

}  // namespace lanewise
