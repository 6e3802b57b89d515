#pragma once
// Candidates compared by their jobs: time, score, price, power, and which of them nothing else beats.
#include <optional>
#include <string>
#include <vector>

#include "core/design/bill.hpp"
#include "core/design/brief.hpp"
#include "core/design/evaluation.hpp"
#include "core/design/faults.hpp"
#include "core/design/sensitivity.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

struct JobResult {
  std::string failure;                // why it cannot be done; empty: it can
  std::optional<JobFigures> figures;  // by the library of the brief
  std::optional<Seconds> best;        // as well as possible, where a library does it
  double ratio = 0;                   // time over that of the fastest candidate; 0: it cannot be done
};

struct CandidateResult {
  DesignCandidate candidate;
  std::string title;
  std::string failure;  // why nothing of it was evaluated; empty: it was
  std::size_t gpus = 0;
  std::vector<JobResult> jobs;  // of the brief, in its order
  Bill bill;
  std::optional<Watts> power;  // given, or the sum of its parts where all say theirs
  std::string worst_pair;      // "gpu0 > gpu5"
  std::optional<BytesPerSecond> worst_pair_rate;
  std::optional<BytesPerSecond> bisection;  // each way between two halves of the GPUs
  double score = 0;                         // weighted geometric mean of best time / time; 0: a job cannot be done
  bool on_front = false;                    // no candidate is better in score, price and power
  std::vector<std::string> broken_limits;
  std::optional<FaultReport> faults;
  [[nodiscard]] bool meets_limits() const { return failure.empty() && score > 0 && broken_limits.empty(); }
};

struct DesignComparison {
  std::string design, title;
  std::string library;  // "nccl-2.30", "best"
  std::vector<DesignJob> jobs;
  std::vector<CandidateResult> candidates;  // best score first, those that failed last
  std::optional<Sensitivity> sensitivity;
  [[nodiscard]] bool any_meets_limits() const;
};

struct DesignContext {
  Catalogue& catalogue;
  PriceList const* prices = nullptr;
  std::size_t draws = 200;
  std::uint64_t seed = 1;
};

// A candidate that fails does not end the comparison. Reports progress.
DesignComparison compare_candidates(DesignBrief const& brief, DesignContext const& context);

}  // namespace lanewise
