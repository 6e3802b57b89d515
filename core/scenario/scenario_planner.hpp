#pragma once
#include <optional>

#include "lanewise/planner/choice/collective_planner.hpp"
#include "lanewise/planner/jobs/job_set.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {

// The library as which a scenario is planned: the aim's, else the one that the scenario names.
std::optional<Library> library_of(Scenario const& scenario, Aim const& aim);

// Plans a scenario on one model, and keeps what the plan's collectives were chosen from, so that nothing is weighed
// again for their alternatives.
class ScenarioPlanner {
 public:
  // `scenario` and `model` must outlive the planner. `keep`: Keep::All where alternatives will be asked for. Throws as
  // requests_of().
  ScenarioPlanner(Scenario const& scenario, Model const& model, Aim aim, Keep keep = Keep::Best);
  ScenarioPlanner(ScenarioPlanner const&) = delete;  // the job set's planner refers to that of collectives
  ScenarioPlanner& operator=(ScenarioPlanner const&) = delete;
  ~ScenarioPlanner() = default;

  // What plan_of() returns.
  Plan plan();

  [[nodiscard]] CollectivePlanner& collectives() { return collectives_; }
  // Where the scenario is one collective.
  [[nodiscard]] std::optional<Collective> const& collective() const { return collective_; }
  // Nullptr where it is no job set.
  [[nodiscard]] JobSetPlanner* job_set() { return job_set_ ? &*job_set_ : nullptr; }

 private:
  Scenario const& scenario_;
  Model const& model_;
  Aim aim_;
  CollectivePlanner collectives_;
  std::optional<Collective> collective_;
  std::optional<JobSetPlanner> job_set_;
};

}  // namespace lanewise
