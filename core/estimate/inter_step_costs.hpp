#pragma once
// Costs that arise between the steps of a plan and that no step has alone: noticing the end of another GPU's work,
// changing engines, starting a fused kernel.
#include <vector>

#include "core/estimate/engine_concurrency.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

class InterStepCosts {
 public:
  // `demands`: of each step alone; add_to() changes them. All arguments must outlive it. `uses_ll`: the steps travel by
  // the LL protocol.
  InterStepCosts(Model const& model, std::vector<Step> const& steps, StepDemands& demands, EngineConcurrency& engines,
                 bool uses_ll);

  void add_to(std::size_t i);

 private:
  // What carries out a step: one of a GPU's copy engines, or a kernel on its multiprocessors. Others do not wait by
  // events.
  enum class Agent : std::uint8_t { Engine, Kernel, Other };
  static Agent agent_of(Step const& step);

  [[nodiscard]] bool touches_host(Step const& step) const;
  // The GPU that has the bytes, or gets them from host memory.
  [[nodiscard]] std::optional<PciId> source_or_target(Step const& step) const;
  // The GPU whose engine or kernel carries out a step; nullopt where a CPU does.
  [[nodiscard]] std::optional<PciId> gpu_of_agent(Step const& step) const;

  // The wait between the end of the steps before a step and its own start, at nominal engine start times.
  [[nodiscard]] Seconds wait_before(std::size_t i);
  [[nodiscard]] Seconds wait_of_kernel(Step const& step) const;
  [[nodiscard]] Seconds wait_of_copy(std::size_t i);

  // For a reduction by a kernel: the step that put something in the same place just before, if one kernel can do both,
  // reading all sources at once. Where copy engines take part, every reduction is a kernel of its own.
  [[nodiscard]] StepId const* fused_predecessor(Step const& step) const;
  // Charges the step only for what the kernel of its predecessors has not paid already.
  void continue_kernel(StepDemand& demand, StepId const* before) const;

  Model const& model_;
  std::vector<Step> const& steps_;
  StepDemands& demands_;
  EngineConcurrency& engines_;
  bool uses_ll_;
  Seconds kernel_start_;        // before the first of steps that are one kernel on each GPU
  bool reductions_fuse_;        // whether one kernel may do several
  std::vector<Seconds> paths_;  // of each step alone
};

}  // namespace lanewise
