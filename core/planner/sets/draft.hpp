#pragma once
// What a plan of a set of transfers could be - how much of each goes over which of its ways, in how many pieces, and
// who goes first - and when everything would end. Cheap to try: only of the best is a plan made.
//
//   Draft const draft{.shares = shares, .fill = 1.1};
//   auto const trial = tried(set, model, draft);
//   trial.run.makespan;
#include <vector>

#include "core/estimate/estimate.hpp"
#include "core/planner/sets/balance.hpp"

namespace lanewise {

// The transfers that a plan is sought for, and what is known of them beforehand.
struct TransferSet {
  std::vector<OpenTransfer> transfers;  // with the options that may be used
  std::vector<std::size_t> usual;       // of each, the option it takes alone
  std::vector<bool> whole;         // of each, whether it goes its usual way undivided and nothing else is asked for
  std::vector<std::size_t> depth;  // of each, how many of a chain come before it
  std::vector<std::size_t> turn;   // of each, who goes first among equals
};

struct Draft {
  std::vector<Shares> shares;  // of each transfer
  double fill = 0;             // how full things may get before steps take turns; 0: none do
  Priority first = Priority::StepOrder;
  std::size_t cuts = 1;         // pieces of each share, where they stay large
  bool shortest_first = false;  // else as they get least in one another's way
};

// A draft laid out as steps, and how they would run.
struct Evaluation {
  struct Part {
    std::size_t transfer = 0;
    std::size_t option = 0;
  };
  std::vector<Part> parts;  // of each step
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
Evaluation laid_out(TransferSet const& set, Model const& model, std::vector<Portion> const& portions);

// Bytes to where a portion may end: at a multiple of what keeps copies aligned.
Bytes aligned(double bytes);

Evaluation tried(TransferSet const& set, Model const& model, Draft const& draft);

// The plan that `each` becomes when its steps are those of the trial.
Plan plan_of(TransferSet const& set, Plan const& each, Evaluation trial);

}  // namespace lanewise
