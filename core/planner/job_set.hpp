#pragma once
// Work of several kinds with an order among it: transfers, collectives, and what GPUs compute between them.
//
//   JobSet const step{{{"backward", Compute{gpus, 2.1_ms}, {}}, {"gradients", all_reduce, {0}}}};
//   auto const plan = plan_job_set(model, step, {Objective::Makespan});
#include <variant>
#include <vector>

#include "core/planner/compute.hpp"
#include "core/planner/set_planner.hpp"

namespace lanewise {

struct Job {
  std::string id;
  std::variant<Request, Collective, Compute> what;  // a request's own `id` and `after` mean nothing here
  std::vector<std::size_t> after;                   // earlier jobs
};

struct JobSet {
  std::vector<Job> jobs;  // those that others wait for stand before them
};

// After another job, a step waits for what that job does last at the step's own places; where it does nothing at them,
// for all of it. So a GPU's next kernel waits for its own gradients only, and an all-reduce for every GPU.
//
// The transfers are planned together as a set; each collective by the algorithm that is fastest alone, unless it says
// which. Throws PlanError naming a transfer without a legal way, or a figure that is unknown.
Plan plan_job_set(Model const& model, JobSet const& job_set, Aim aim);

// Whether a plan holds more than transfers or one collective.
bool is_job_set(Plan const& plan);

}  // namespace lanewise
