#pragma once
// Evaluations shared among processes: a pool on this machine, and those that a launcher started on several.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/design/result_store.hpp"

namespace lanewise {

struct WorkItem {
  std::string key;   // says everything that the result depends on
  std::string what;  // "hgx-h100, all_reduce-1GiB"
  std::function<nlohmann::ordered_json()> evaluate;
};

// Who shares the work. Several processes need a store in a folder; those of a launcher one that all of them see.
struct Workers {
  int processes = 1;  // on this machine
  int rank = 0;       // of `ranks` that a launcher started with the same work
  int ranks = 1;
};

// The rank and number of processes as mpirun (Open MPI, MPICH, Intel MPI) and srun tell them in the environment; rank 0
// of 1 without a launcher.
Workers launched_workers();

// Evaluates what the store does not hold yet; afterwards it holds everything. Each process begins at a place of its own
// and leaves out what others do or did, so that none waits for one that was given more; what one left undone the others
// do. Reports progress of `doing`, a literal. Throws what an evaluation throws; of one in another process of this
// machine std::runtime_error with its text; Interrupted.
void evaluate_missing(std::vector<WorkItem> const& items, ResultStore& store, Workers const& workers,
                      std::string_view doing);

}  // namespace lanewise
