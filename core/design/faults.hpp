#pragma once
// What can fail in a machine, one component at a time, and what each failure costs.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/design/brief.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct Fault {
  Setting setting;   // off@nic3, count@nvlink.gpu0=9, link@gpu3=gen5 x8
  std::string what;  // "nic3 lost", "half of nvlink.gpu0"
};

// Every GPU, NIC and switch lost; every link, port and cable halved, where it can be. Of nodes, of switches of one tier
// and of cables that are alike the first stands for all.
std::vector<Fault> single_faults(Machine const& machine);

struct FaultLoss {
  Fault fault;
  int alike = 1;                              // failures of the same kind that cost as much, this one included
  std::vector<std::optional<double>> ratios;  // of each job: its time over that without the fault; absent: impossible
  std::string impossible;                     // why, of the first such job
  double kept = 0;  // of the score: the weighted geometric mean of 1 / ratio, at most 1; 0: impossible
};

struct FaultReport {
  std::vector<FaultLoss> losses;  // worst first; of those that are alike the first
  std::size_t failures = 0;       // all of them
  double resilience = 1;          // mean of `kept` over all faults
  double worst_kept = 1;
  std::string why_none;  // none of the jobs can be done without a fault; empty: one can
};

struct FaultQuery {
  std::vector<DesignJob> const& jobs;
  std::optional<Library> library;
  std::function<Machine(std::string const&)> find_machine;
};

// Jobs that are impossible without a fault are left out. Reports progress.
FaultReport evaluate_faults(Machine const& machine, Catalogue& catalogue, FaultQuery const& query);

}  // namespace lanewise
