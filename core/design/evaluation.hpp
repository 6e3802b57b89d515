#pragma once
// A job planned on a candidate, to be timed under several assumptions.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/workload/step_time.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {

struct JobFigures {
  Seconds time{0};                              // of the run, or of a step
  std::optional<BytesPerSecond> bus_bandwidth;  // of a collective
  std::optional<double> tokens_per_second;      // of a workload
  std::string bottleneck;                       // what is busiest, or which part of a step is longest
};

class PlannedJob {
 public:
  // `library`: plans collectives; nullopt: as well as possible. Of AMD's GPUs RCCL does what NCCL does of NVIDIA's.
  // `find_machine`: of a workload that is fitted to a step on another machine; `fitted_on`: where it names none;
  // nullptr: it has to. Throws PlanError where the job cannot be done here, InputError where its names do not fit the
  // machine, or where it has settings, which would be the candidate's.
  PlannedJob(Scenario const& scenario, Model const& model, std::optional<Library> library,
             std::function<Machine(std::string const&)> const& find_machine, Model const* fitted_on = nullptr);

  // `model`: of the same machine.
  [[nodiscard]] JobFigures figures(Model const& model) const;
  // Only the time, which takes half as long.
  [[nodiscard]] Seconds time(Model const& model) const;

 private:
  [[nodiscard]] StepTime step(Model const& model) const;

  std::optional<Plan> plan_;
  std::optional<PlannedStep> step_;
  std::optional<Model> fitted_model_;  // where it is another machine
};

}  // namespace lanewise
