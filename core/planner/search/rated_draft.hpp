#pragma once
// Drafts with the value that the search minimises.
#include <limits>
#include <vector>

#include "core/planner/sets/draft.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

struct RatedDraft {
  Draft draft;
  Evaluation evaluation;
  double value = std::numeric_limits<double>::infinity();  // seconds of makespan, or the worst slowdown
};

// A draft of which only the value was kept.
struct TriedDraft {
  double value = std::numeric_limits<double>::infinity();
  Draft draft;
};

// Rates evaluations of one set by an objective.
class Rating {
 public:
  // `set`, `model` and `evaluator`, which is of this set, must outlive it.
  Rating(TransferSet const& set, Model const& model, Objective objective, DraftEvaluator& evaluator);

  // The makespan in seconds, or with Objective::Slowdown the largest ratio of a transfer's time, from when it may
  // begin, to its time alone.
  [[nodiscard]] double value_of(Evaluation const& evaluation) const;
  [[nodiscard]] RatedDraft rate(Draft draft) const;

 private:
  TransferSet const& set_;
  Model const& model_;
  DraftEvaluator& evaluator_;
  std::vector<Seconds> alone_;  // of each transfer; empty unless slowdowns are asked for
};

}  // namespace lanewise
