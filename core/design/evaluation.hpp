#pragma once
// A job planned on a candidate, to be timed under several assumptions; and what was found of it.
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/workload/step_time.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/time_range.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {

struct JobFigures {
  Seconds time{0};                              // of the run, or of a step
  std::optional<TimeRange> range;               // holds 90 % of measurements
  std::optional<BytesPerSecond> bus_bandwidth;  // of a collective
  std::optional<double> tokens_per_second;      // of a workload
  std::string bottleneck;                       // what is busiest, or which part of a step is longest
};

// How a job is planned and timed.
struct Approach {
  std::optional<Library> library;  // plans collectives; nullopt: as well as possible
  Effort effort = Effort::Quick;
  MakeExecutor make_executor = {};  // the simulator; absent: the planner's own estimate
};

class PlannedJob {
 public:
  using FindMachine = std::function<Machine(std::string const&)>;

  // Of AMD's GPUs RCCL does what NCCL does of NVIDIA's. `find_machine`: of a workload that is fitted to a step on
  // another machine; `fitted_on`: where it names none; nullptr: it has to. Throws PlanError where the job cannot be
  // done here, InputError where its names do not fit the machine, or where it has settings, which would be the
  // candidate's.
  PlannedJob(Scenario const& scenario, Model const& model, Approach approach, FindMachine const& find_machine,
             Model const* fitted_on = nullptr);

  // `model`: of the same machine. Without a range.
  [[nodiscard]] JobFigures figures(Model const& model) const;
  // Only the time, by the planner's own estimate; it takes half as long.
  [[nodiscard]] Seconds time(Model const& model) const;
  // What its time may depend on.
  [[nodiscard]] std::vector<Parameter> parameters(Model const& model) const;

 private:
  [[nodiscard]] StepTime step(Model const& model, MakeExecutor const& make_executor) const;

  Approach approach_;
  std::optional<Plan> plan_;
  std::optional<PlannedStep> step_;
  std::optional<Model> fitted_model_;  // where it is another machine
};

// What was found of a job on a candidate.
struct JobEvaluation {
  std::string failure;                // why it cannot be done; empty: it can
  std::optional<JobFigures> figures;  // by the library that ranks
  std::optional<Seconds> best;        // as well as possible, where a library does it
  std::vector<double> samples;        // its time under each assumption that was tried, over the time without
};

// What to find besides the figures.
struct EvaluationDetail {
  bool range = false;
  bool best = false;
  std::span<Assumptions const> samples = {};
};

// Never throws for a job that cannot be done there.
JobEvaluation evaluate_job(Scenario const& scenario, Model const& model, Approach const& approach,
                           PlannedJob::FindMachine const& find_machine, EvaluationDetail const& detail);

nlohmann::ordered_json to_json(JobEvaluation const& evaluation);
// Of what to_json() wrote; every figure is the same.
JobEvaluation job_evaluation_from(nlohmann::ordered_json const& json);

}  // namespace lanewise
