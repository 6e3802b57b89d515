#pragma once
// A workload and what is known about it: transfers, collectives and computation; variants of settings; expectations.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/aim.hpp"
#include "lanewise/planner/jobs/job_set.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/scenario/job_spec.hpp"
#include "lanewise/scenario/threshold.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

struct TransferSpec {
  std::string id;
  std::string from, to;  // names of places
  Bytes bytes{0};
  std::optional<Op> op;                // absent: a copy, by whatever moves it sooner
  std::optional<Mechanism> mechanism;  // use this mechanism only
  bool by_driver = false;              // host_staged: CUDA's own staging
  Access access;                       // pattern of device DMA to host memory
  bool pageable = false;               // host memory is not pinned
  int queue_pairs = 0;                 // 0: as many as saturate the NIC
  int cores = 0;                       // CPU cores that copy between host memories; 0: one
  std::vector<std::string> after;      // ids of jobs that must have finished
  SourcePos pos = {};
  std::vector<std::string> nics = {};  // between nodes: that of the source and that of the target; empty: any
  friend bool operator==(TransferSpec const&, TransferSpec const&) = default;
};

struct Variant {
  std::string name;
  std::vector<Setting> settings;
  friend bool operator==(Variant const&, Variant const&) = default;
};

// One entry under `expect`: where it applies, and what must hold there.
struct Expectation {
  std::string machine;                                       // empty: every machine
  std::string variant;                                       // empty: every variant
  std::string transfer;                                      // empty: the whole run, or a collective
  std::string collective = {};                               // one of several jobs; empty: none
  std::vector<Mechanism> mechanisms;                         // the chosen mechanism is one of these
  std::vector<std::string> avoids;                           // kinds or names of hops that must not be on the route
  std::vector<std::string> through;                          // kinds or names of hops that must be on the route
  std::optional<std::pair<Mechanism, std::string>> refuses;  // a mechanism, and the rule that must refuse it
  std::optional<bool> possible;        // false: there must be no legal way, which then is no failure
  std::optional<Threshold> bandwidth;  // of the transfer; of a collective its bus's; of the run: all bytes / makespan
  std::optional<Threshold> latency;    // from the start of the transfer or the collective to its end
  std::optional<Threshold> makespan;
  std::optional<Threshold> regret;  // of the transfer's decision; of the whole run: the worst regret
  SourcePos pos;
  friend bool operator==(Expectation const&, Expectation const&) = default;
};

struct Scenario {
  std::string name;
  std::string title;
  std::string source;  // where the expectations come from
  std::vector<std::string> machines;
  std::vector<Setting> settings;  // apply to every variant
  Objective objective = Objective::Makespan;
  std::vector<TransferSpec> transfers;
  std::optional<CollectiveSpec> collective;  // if present, the scenario is this one collective
  std::vector<CollectiveSpec> collectives;
  std::vector<ComputeSpec> compute;
  std::optional<Workload> workload;  // if present, the scenario is this step of a language model
  std::vector<Variant> variants;     // at least one; the default variant has no name and no settings
  std::vector<Expectation> expectations;
  SourcePos pos;
  std::vector<SourcePos> machine_positions = {};  // where the file names each machine
  // The same of one machine; where the file does not name it, the scenario's own place.
  [[nodiscard]] SourcePos machine_pos(std::size_t i) const {
    return i < machine_positions.size() ? machine_positions[i] : pos;
  }
  friend bool operator==(Scenario const&, Scenario const&) = default;
};

// Reads `lanewise: scenario/1`. Throws InputError listing every problem.
Scenario read_scenario(SourceText const& source);

// A topological order of all jobs. Jobs are numbered transfers first, then collectives, then computations. Leaves out
// jobs that wait for one another in a cycle.
std::vector<std::size_t> order_of(Scenario const& scenario);

// The transfers as requests on a machine. Throws InputError naming the transfer if the machine lacks a place.
std::vector<Request> requests_of(Scenario const& scenario, Machine const& machine);
// The scenario's collective on a machine; nullopt if it has other jobs instead. Throws as requests_of().
std::optional<Collective> collective_of(Scenario const& scenario, Machine const& machine);
// Whether the scenario has collectives among other jobs, or computation.
bool is_job_set(Scenario const& scenario);
// All jobs on a machine. Throws as requests_of().
JobSet workload_of(Scenario const& scenario, Machine const& machine);
// The plan of any scenario. Its decisions are those of the transfers, in the scenario's order. Throws PlanError if
// there is no legal plan.
Plan plan_of(Scenario const& scenario, Model const& model, Aim aim);

}  // namespace lanewise
