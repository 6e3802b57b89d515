#pragma once
// What can fail in a machine, one or two components at a time, and what each failure costs.
#include <optional>
#include <string>
#include <vector>

#include "core/design/brief.hpp"
#include "core/design/evaluator.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct Fault {
  std::vector<Setting> settings;  // off@nic3, count@nvlink.gpu0=9, link@gpu3=gen5 x8
  std::string what;               // "nic3 lost", "half of nvlink.gpu0", "nic3 lost and nic4 lost"
};

// Every GPU, NIC and switch lost; every link, port and cable halved, where it can be. Of nodes, of switches of one tier
// and of cables that are alike the first stands for all.
std::vector<Fault> single_faults(Machine const& machine);
// Every two of them at once that are not of the same component; of what is alike the first two are there. Throws
// InputError where there are more than 100,000.
std::vector<Fault> double_faults(Machine const& machine);

struct FaultLoss {
  Fault fault;
  int alike = 1;                              // failures of the same kind that cost as much, this one included
  std::vector<std::optional<double>> ratios;  // of each job: its time over that without the fault; absent: impossible
  std::string impossible;                     // why, of the first such job
  double kept = 0;  // of the score: the weighted geometric mean of 1 / ratio, at most 1; 0: impossible
};

struct FaultReport {
  std::string machine;
  FaultScope scope = FaultScope::Each;
  std::vector<FaultLoss> losses;  // worst first; of those that are alike the first
  std::size_t failures = 0;       // all of them
  double resilience = 1;          // mean of `kept` over all faults
  double worst_kept = 1;
  std::string why_none;  // none of the jobs can be done without a fault; empty: one can
};

// What failures cost one candidate. Its evaluations are added to those of others, so that they are shared among
// processes together.
class FaultStudy {
 public:
  // Adds its evaluations. `jobs` and the evaluator must outlive it. Throws as double_faults().
  // `machine`: the subject's.
  FaultStudy(Machine const& machine, Subject subject, std::vector<DesignJob> const& jobs,
             std::optional<Library> const& library, FaultScope scope, Evaluator& evaluator);
  // After Evaluator::run(). Jobs that are impossible without a fault are left out.
  [[nodiscard]] FaultReport report() const;

 private:
  [[nodiscard]] FaultLoss loss_of(std::size_t fault, std::vector<std::optional<Seconds>> const& nominal) const;

  std::vector<DesignJob> const& jobs_;
  Evaluator const& evaluator_;
  std::string machine_;
  FaultScope scope_;
  std::vector<Fault> faults_;
  std::vector<std::string> nominal_;            // keys, of each job
  std::vector<std::vector<std::string>> keys_;  // of each fault and job
};

}  // namespace lanewise
