#pragma once
// What a plan of a set of transfers could be - how much of each goes over which of its ways, in how many pieces, and
// who goes first - and when everything would end. Cheap to try: only of the best is a plan made.
//
//   Draft const draft{.shares = shares, .max_utilisation = 1.1};
//   auto const evaluation = tried(set, model, draft);
//   evaluation.run.makespan;
#include <vector>

#include "core/estimate/estimate.hpp"
#include "core/planner/sets/load_balance.hpp"

namespace lanewise {

// The transfers that a plan is sought for, and what is known of them beforehand.
struct TransferSet {
  std::vector<OpenTransfer> transfers;      // with the options that may be used
  std::vector<std::size_t> default_option;  // of each, the option it takes alone
  std::vector<bool> is_indivisible;    // of each, whether it goes its usual way undivided and nothing else is asked for
  std::vector<std::size_t> depth;      // of each, how many of a chain come before it
  std::vector<std::size_t> tie_break;  // of each, who goes first among equals
};

struct Draft {
  std::vector<Shares> shares;  // of each transfer
  double max_utilisation = 0;  // how full things may get before steps take turns; 0: none do
  Priority priority = Priority::StepOrder;
  std::size_t pieces_per_share = 1;  // pieces of each share, where they stay large
  bool shortest_first = false;       // else as they get least in one another's way
};

// A draft laid out as steps, and how they would run.
struct Evaluation {
  struct Origin {
    std::size_t transfer = 0;
    std::size_t option = 0;
  };
  std::vector<Origin> origins;  // of each step
  std::vector<Step> steps;
  Estimate run;
};

// So much of a transfer, by one of its ways.
struct Portion {
  std::size_t transfer = 0;
  std::size_t option = 0;
  Bytes offset{0};
  Bytes bytes{0};
};

// The transfers of a plan in which each goes its best way by itself. The driver's own copies, pageable memory, atomics,
// Unified Memory and nothing at all are whole.
TransferSet transfer_set(Plan const& plan, Model const& model);

// A step for each portion, in their order, waiting for no other; not run yet. Together the portions are all bytes of
// every transfer.
Evaluation steps_of_portions(TransferSet const& set, Model const& model, std::vector<Portion> const& portions);

// Bytes to where a portion may end: at a multiple of what keeps copies aligned.
Bytes round_to_alignment(double bytes);

Evaluation evaluate(TransferSet const& set, Model const& model, Draft const& draft);

// The plan that `each` becomes when its steps are those of the evaluation.
Plan plan_of(TransferSet const& set, Plan const& each, Evaluation evaluation);

}  // namespace lanewise
