#pragma once
// How long a step takes: computing, and the communication that it does not hide.
#include <string>
#include <vector>

#include "core/workload/pattern_time.hpp"

namespace lanewise {

// Computing of one micro-batch on one stage; of inference of the whole batch.
struct StageTime {
  Seconds forward{0};
  Seconds backward{0};
};

// A pattern's time in a step. exposed + hidden is all of it.
struct PatternShare {
  PatternTime time;
  Seconds exposed{0};
  Seconds hidden{0};
};

// The order of ranks that was found to make the shortest step, by the planner's own estimate.
struct SearchedOrder {
  std::string order;  // "tp-dp-pp": of what divides the work, innermost first
  std::size_t tried = 0;
  std::string default_order;               // the same words in the order that counts when none is named
  std::optional<Seconds> step_as_default;  // nullopt: it cannot be done in that order
  Seconds step{0};                         // in the order that was taken
};

struct StepTime {
  std::vector<PatternShare> patterns;
  StageTime stage;
  std::string computing_by;      // what the computing rests on: "mfu 45 %", "fitted: ..."
  double mfu = 0;                // model FLOPs over the peak, while it computes; 0: no peak is known
  double step_mfu = 0;           // the same over the whole step
  Seconds computing{0};          // of one rank
  Seconds idle{0};               // of the pipeline while it fills and drains
  Seconds exposed{0};            // communication that nothing hides
  Seconds step{0};               // train: of the optimizer's step; prefill: until the first token; decode: of a token
  double tokens_per_second = 0;  // of all ranks
  std::optional<SearchedOrder> searched;
  std::vector<std::string> notes;  // what of a trace is not used, or taken to be
};

// Operations of the model for one micro-batch on one rank, forward; backward takes twice as many. Counted as in PaLM
// (arXiv 2204.02311, appendix B): 2 for each parameter that a token passes, and attention to the whole sequence.
Flop forward_flop(Workload const& workload);
// The part of it that is attention to the sequence.
Flop attention_flop(Workload const& workload);

// The peak rate of the GPU of the first rank for the workload's matrices; nullopt: nobody says it.
std::optional<FlopPerSecond> peak_rate(Workload const& workload, Machine const& machine);
// How many times as long as the forward pass the backward pass takes.
double backward_ratio(Workload const& workload);
// The computing of a workload that says how long it takes. Throws InputError where it does not, and PlanError where a
// figure of the GPU is unknown.
StageTime stage_time(Workload const& workload, Machine const& machine);

// Composes a step of patterns whose times are known.
StepTime compose_step(Workload const& workload, std::vector<PatternTime> const& times, StageTime const& stage);

// A workload planned on a machine, to be timed under several assumptions.
class PlannedStep {
 public:
  // Throws as PlannedTraffic. `fitted_model`: the machine of a step that the workload is fitted to. Where the workload
  // leaves its order open, this searches it; the order then stays under all assumptions.
  PlannedStep(Workload workload, Model const& model, Model const& fitted_model, Effort effort = Effort::Quick);

  // The models: of the same machines.
  [[nodiscard]] StepTime time(Model const& model, Model const& fitted_model,
                              MakeExecutor const& make_executor = {}) const;
  // What the time may depend on.
  [[nodiscard]] std::vector<Parameter> parameters(Model const& model, Model const& fitted_model) const;

 private:
  [[nodiscard]] StageTime fitted_stage(Model const& model, Model const& fitted_model,
                                       MakeExecutor const& make_executor) const;
  [[nodiscard]] StageTime stage(Model const& model, Model const& fitted_model, MakeExecutor const& make_executor) const;

  Workload workload_;
  std::optional<Workload> measured_;  // that it is fitted to
  std::optional<PlannedTraffic> measured_traffic_;
  std::optional<SearchedOrder> searched_;
  std::optional<PlannedTraffic> traffic_;
};

// Times the traffic, and composes a step. Of a workload that is fitted to another step, `fitted_model` is the machine
// that it ran on, as it was then; another GPU is taken to have the same mfu.
StepTime step_time(Workload const& workload, Model const& model, Model const& fitted_model,
                   MakeExecutor const& make_executor = {});

}  // namespace lanewise
