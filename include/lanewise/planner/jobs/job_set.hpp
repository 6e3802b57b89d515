#pragma once
// Jobs of several kinds with dependencies: transfers, collectives, and computation on GPUs between them.
//
//   JobSet const step{{{"backward", Compute{gpus, 2.1_ms}, {}}, {"gradients", all_reduce, {0}}}};
//   auto const plan = plan_job_set(model, step, {Objective::Makespan});
#include <map>
#include <variant>
#include <vector>

#include "lanewise/planner/aim.hpp"
#include "lanewise/planner/choice/collective_planner.hpp"
#include "lanewise/planner/compute.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

struct Job {
  std::string id;
  std::variant<Request, Collective, Compute> what;  // of a request, `id` and `after` are ignored
  std::vector<std::size_t> after;                   // jobs that must finish first; they stand before this one
};

struct JobSet {
  std::vector<Job> jobs;  // each after those that it waits for
};

// Plans all jobs. The transfers are planned together as a set; each collective by the algorithm that is fastest alone,
// unless it names one. A step of a job that comes after another job waits for the last steps of that job at the step's
// own places, or for the whole job if it uses none of them. So the next kernel of a GPU waits only for its own
// gradients, and an all-reduce for every GPU. With `aim.library` that library plans the collectives, each as its own
// communicator. Throws PlanError naming a transfer without a legal way or an unknown figure.
Plan plan_job_set(Model const& model, JobSet const& job_set, Aim aim);

// Plans one job set several times, each time with another plan of a collective. Transfers are planned once.
class JobSetPlanner {
 public:
  // `collectives` must outlive the planner.
  JobSetPlanner(CollectivePlanner& collectives, JobSet job_set, Aim aim)
      : collectives_(collectives), job_set_(std::move(job_set)), aim_(aim) {}

  // What plan_job_set() returns.
  Plan plan() { return plan_of(job_set_); }
  // The same with `collective` as the job of this name.
  Plan plan_with(std::string const& job, Collective const& collective);

  [[nodiscard]] JobSet const& job_set() const { return job_set_; }
  [[nodiscard]] CollectivePlanner& collectives() { return collectives_; }

 private:
  Plan plan_of(JobSet const& job_set);
  Plan const& transfers(std::vector<Request> const& requests, Objective objective);

  CollectivePlanner& collectives_;
  JobSet job_set_;
  Aim aim_;
  std::map<Objective, Plan> transfers_;
};

}  // namespace lanewise
