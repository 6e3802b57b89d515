#pragma once
// Candidates compared by their jobs: time, score, price, power, and which of them nothing else beats.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/design/bill.hpp"
#include "core/design/brief.hpp"
#include "core/design/evaluator.hpp"
#include "core/design/faults.hpp"
#include "core/design/sensitivity.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

struct JobResult : JobEvaluation {
  double ratio = 0;  // time over that of the fastest candidate; 0: it cannot be done
};

struct CandidateResult {
  DesignCandidate candidate;
  std::string title;
  std::string failure;  // why nothing of it was evaluated; empty: it was
  std::size_t gpus = 0;
  std::vector<JobResult> jobs;  // of the brief, in its order
  bool is_final = false;        // evaluated with all detail; else by the planner's estimate and quick effort alone
  Bill bill;
  std::optional<Watts> power;  // given, or the sum of its parts where all say theirs
  PairFigures pairs;           // of final ones
  double score = 0;            // weighted geometric mean of best time / time; 0: a job cannot be done
  bool on_front = false;       // no candidate is better in score, price and power
  std::string beaten_by;       // of a generated one: another as good with no more of any part
  std::vector<std::string> broken_limits;
  std::optional<FaultReport> faults;
  [[nodiscard]] bool meets_limits() const { return failure.empty() && score > 0 && broken_limits.empty(); }
};

struct DesignComparison {
  std::string design, title;
  std::string library;     // "nccl-2.30", "best"
  bool simulated = false;  // final times are the simulator's; else the planner's estimates
  GeneratedSummary generated;
  std::vector<DesignJob> jobs;
  std::vector<CandidateResult> candidates;  // best score first, those that failed last
  std::optional<Sensitivity> sensitivity;
  [[nodiscard]] bool any_meets_limits() const;
};

struct DesignContext {
  Catalogue& catalogue;
  ResultStore& store;
  PriceList const* prices = nullptr;
  std::size_t draws = 200;
  std::uint64_t seed = 1;
  Workers workers = {};
  MakeExecutor make_executor = {};  // the simulator; absent: the planner's estimates stand
  // Called with the ranking by estimates, before the best are simulated.
  std::function<void(DesignComparison const&)> first_ranking = {};
};

// Evaluates all candidates by the planner's estimate with quick effort, then the ten best in detail: simulated, with
// full effort, ranges, the best plans beside those of a library, and where the brief asks for it failures and
// sensitivity. Without a simulator details are estimated with quick effort. Of those that meet the limits the best come
// first among the ten. A candidate that fails does not end the comparison. Reports progress. Throws Interrupted; what
// was evaluated until then is in the store.
DesignComparison compare_candidates(DesignBrief const& brief, DesignContext const& context);

}  // namespace lanewise
