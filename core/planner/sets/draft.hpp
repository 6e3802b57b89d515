#pragma once
// A draft of a plan: how many bytes of each transfer go over each option, in how many pieces, and in which order. An
// evaluation says when its steps would run. Cheap: only the best draft becomes a plan.
//
//   Draft const draft{.shares = shares, .max_utilisation = 1.1};
//   DraftEvaluator(set, model).evaluate(draft).run.makespan;
#include <vector>

#include "core/estimate/schedule.hpp"
#include "core/estimate/step_demands.hpp"
#include "core/planner/sets/piece_demands.hpp"
#include "core/planner/sets/shares.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {

struct Draft {
  std::vector<Shares> shares;  // of each transfer
  // Admission control: a step starts only if every resource on its route then stays at or below this. 0: none.
  double max_utilisation = 0;
  Priority priority = Priority::StepOrder;  // of steps that wait for admission
  std::size_t pieces_per_share = 1;         // at most; see SearchLimits::min_flow_to_latency_ratio
  bool shortest_first = false;              // start order: shortest transfer first, instead of least contention
  std::vector<std::size_t> tie_break{};     // of each transfer, as TransferSet's; empty: that of the set
};

// The steps of a draft, and their estimated times.
struct Evaluation {
  struct Origin {
    std::size_t transfer = 0;
    std::size_t option = 0;
  };
  std::vector<Origin> origins;  // of each step
  std::vector<Step> steps;
  std::vector<OrderOnly> order;  // that admission added; plan_of() writes it into the steps
  Estimate run;
};

// One step for each portion, in their order, without dependencies and without times. The portions must cover all bytes
// of every transfer.
Evaluation steps_of_portions(TransferSet const& set, Model const& model, std::vector<Portion> const& portions);

// Rounds to a multiple of 4 KiB, so that every portion starts aligned.
Bytes round_to_alignment(double bytes);

// What drafts that differ only in admission share: the steps without times, and their demands.
struct DraftSteps {
  Evaluation evaluation;
  StepDemands demands;
};

// Evaluates drafts of one set.
class DraftEvaluator {
 public:
  // `set` and `model` must outlive it.
  DraftEvaluator(TransferSet const& set, Model const& model) : set_(set), model_(model), pieces_(set, model) {}

  [[nodiscard]] DraftSteps steps_of(Draft const& draft);
  // `draft` differs from the one whose steps they are only in admission.
  [[nodiscard]] Evaluation evaluate(DraftSteps const& steps, Draft const& draft) const;
  [[nodiscard]] Evaluation evaluate(Draft const& draft);

 private:
  TransferSet const& set_;
  Model const& model_;
  PieceDemands pieces_;
};

// `base` with the steps of the evaluation. `base`: the plan that the set was made of.
Plan plan_of(TransferSet const& set, Plan const& base, Evaluation evaluation);

}  // namespace lanewise
