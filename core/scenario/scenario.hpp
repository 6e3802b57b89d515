#pragma once
// A workload and what is known to be true of it: transfers, collectives and computing, variants of settings,
// expectations.
#include <optional>
#include <string>
#include <vector>

#include "core/io/file.hpp"
#include "core/io/yaml.hpp"
#include "core/machine/setting.hpp"
#include "core/planner/jobs/job_set.hpp"
#include "core/planner/planner.hpp"
#include "core/planner/search/set_planner.hpp"
#include "core/scenario/job_fields.hpp"
#include "core/scenario/threshold.hpp"

namespace lanewise {

struct TransferSpec {
  std::string id;
  std::string from, to;  // names of places
  Bytes bytes{0};
  Op op = Op::Copy;
  std::optional<Mechanism> mechanism;  // this one and no other
  bool by_driver = false;              // host_staged as CUDA does it by itself
  Access access;                       // of device DMA to host memory
  bool pageable = false;               // host memory that is not pinned
  int queue_pairs = 0;                 // 0: as many as the NIC needs
  int cores = 0;                       // that copy between host memories at once; 0: one
  std::vector<std::string> after;      // ids
  friend bool operator==(TransferSpec const&, TransferSpec const&) = default;
};

struct Variant {
  std::string name;
  std::vector<Setting> settings;
  friend bool operator==(Variant const&, Variant const&) = default;
};

// One line under `expect`: where it applies, and what must hold there.
struct Expectation {
  std::string machine;                                       // empty: every machine
  std::string variant;                                       // empty: every variant
  std::string transfer;                                      // empty: the whole run
  std::vector<Mechanism> mechanisms;                         // the chosen one is among these
  std::vector<std::string> avoids;                           // kinds or names of hops that the route does not have
  std::vector<std::string> through;                          // and that it has
  std::optional<std::pair<Mechanism, std::string>> refuses;  // a mechanism, and the rule that refuses it
  std::optional<bool> possible;                              // false: no legal way at all, which is then no failure
  std::optional<Threshold> bandwidth;  // of the transfer; of the whole run: all bytes over the makespan
  std::optional<Threshold> latency;    // of the transfer, from its start to its end
  std::optional<Threshold> makespan;
  std::optional<Threshold> regret;  // of the transfer's decision; of the whole run: of the worst one
  SourcePos pos;
  friend bool operator==(Expectation const&, Expectation const&) = default;
};

struct Scenario {
  std::string name;
  std::string title;
  std::string source;  // where the truth is from
  std::vector<std::string> machines;
  std::vector<Setting> settings;  // of every variant
  Objective objective = Objective::Makespan;
  std::vector<TransferSpec> transfers;
  std::optional<CollectiveSpec> collective;  // then there is nothing beside it
  std::vector<CollectiveSpec> collectives;
  std::vector<ComputeSpec> compute;
  std::vector<Variant> variants;  // at least one; the default has no name and changes nothing
  std::vector<Expectation> expectations;
  SourcePos pos;
  friend bool operator==(Scenario const&, Scenario const&) = default;
};

MapSpec const& scenario_spec();
// Reads `lanewise: scenario/1`. Throws InputError with everything that is wrong.
Scenario read_scenario(SourceText const& source);

// Positions of transfers, collectives and computing, one kind behind the other, in an order in which all stand behind
// what they wait for. Those that wait in a circle are left out.
std::vector<std::size_t> order_of(Scenario const& scenario);

// The transfers as requests on a machine. Throws InputError naming the transfer when a place is not there.
std::vector<Request> requests_of(Scenario const& scenario, Machine const& machine);
// The collective on a machine, likewise; nullopt where the scenario has transfers.
std::optional<Collective> collective_of(Scenario const& scenario, Machine const& machine);
// Whether it has collectives beside other work, or computing; and all of it on a machine, likewise.
bool is_job_set(Scenario const& scenario);
JobSet workload_of(Scenario const& scenario, Machine const& machine);
// The plan of any of them. The decisions are those of the transfers, in the scenario's order.
Plan plan_of(Scenario const& scenario, Model const& model, Aim aim);

}  // namespace lanewise
