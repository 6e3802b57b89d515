#pragma once
// How good the plans of many transfers at once are on a machine: standard sets between its GPUs, each planned, run, and
// held against what no plan beats, against all transfers at once, and against every simple algorithm.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "core/planner/aim.hpp"

namespace lanewise {

struct SetResult {
  std::string machine;
  std::string set;  // "all-to-all"
  std::size_t transfers = 0;
  Seconds planned{0};
  Seconds bound{0};
  Seconds at_once{0};  // every transfer its best way by itself, all begin together
  Seconds simple{0};   // by the best simple algorithm
  std::string algorithm;

  [[nodiscard]] double gap() const { return planned / bound - 1; }      // 0.05: 5 % longer than it must at least
  [[nodiscard]] double gain() const { return at_once / planned; }       // 2: half the time of all at once
  [[nodiscard]] double regret() const { return planned / simple - 1; }  // 0.02: 2 % longer than the simple algorithm
};

struct SetSummary {
  std::size_t sets = 0;
  double median_gap = 0, p90_gap = 0, median_gain = 0;
  SetResult worst_gap, most_gain, worst_regret;
};

// All-to-all, all-gather, skewed all-to-all (a quarter of `bytes` to four times as much), incast, two shifts and a
// permutation of `bytes` a transfer. Sets without a legal way, or with one that nobody knows a figure of, are left out;
// with less than two GPUs there are none.
std::vector<SetResult> evaluate_sets(Model const& model, Bytes bytes, Effort effort, MakeExecutor const& executor);

// Of at least one result.
SetSummary summarise(std::vector<SetResult> const& results);
// `lanewise: set_report/1`
nlohmann::ordered_json set_report_json(std::vector<SetResult> const& results);

}  // namespace lanewise
