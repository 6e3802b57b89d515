#pragma once
// How good the plans of sets of transfers are on a machine. Plans and runs standard sets between its GPUs, and compares
// each with its lower bound, with all transfers at once, and with simple algorithms.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

struct SetResult {
  std::string machine;
  std::string set;   // "all-to-all"
  std::string mode;  // of the runs: "sim" or "estimate"
  std::size_t transfers = 0;
  Seconds planned{0};
  Seconds bound{0};
  Seconds at_once{
      0};             // every transfer takes its own best way, all start together: the mean over random orders of issue
  Seconds simple{0};  // with the best simple algorithm
  std::string algorithm;

  [[nodiscard]] double gap() const { return planned / bound - 1; }      // 0.05: 5 % above the lower bound
  [[nodiscard]] double gain() const { return at_once / planned; }       // 2: twice as fast as all at once
  [[nodiscard]] double regret() const { return planned / simple - 1; }  // 0.02: 2 % slower than the simple algorithm
};

struct SetSummary {
  std::size_t sets = 0;
  double median_gap = 0, p90_gap = 0, median_gain = 0;
  SetResult worst_gap, most_gain, worst_regret;
};

// All-to-all, all-gather, skewed all-to-all (transfers of `bytes` / 4 to 4 * `bytes`), incast, two shifts and a
// permutation. Leaves out sets without a legal way or with an unknown figure. Returns nothing for fewer than two GPUs.
std::vector<SetResult> evaluate_sets(Model const& model, Bytes bytes, Effort effort, MakeExecutor const& executor);

// `results` must not be empty.
SetSummary summarise(std::vector<SetResult> const& results);
// `lanewise: set_report/1`
nlohmann::ordered_json set_report_json(std::vector<SetResult> const& results);

}  // namespace lanewise
