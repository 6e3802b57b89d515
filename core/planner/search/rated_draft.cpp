#include "core/planner/search/rated_draft.hpp"

#include <algorithm>
#include <utility>

namespace lanewise {

Rating::Rating(TransferSet const& set, Model const& model, Objective objective, DraftEvaluator& evaluator)
    : set_(set), model_(model), evaluator_(evaluator) {
  if (objective != Objective::Slowdown) return;
  for (std::size_t i = 0; i < set_.transfers.size(); ++i) {
    auto const& transfer = set_.transfers[i];
    alone_.push_back(model_.cost(transfer.options[set_.default_option[i]].demand, transfer.bytes)->time);
  }
}

double Rating::value_of(Evaluation const& evaluation) const {
  if (alone_.empty()) return evaluation.run.makespan.value();
  std::vector<Seconds> ready(set_.transfers.size(), Seconds(0));
  std::vector<Seconds> end(set_.transfers.size(), Seconds(0));
  for (std::size_t s = 0; s < evaluation.steps.size(); ++s) {
    auto const i = evaluation.origins[s].transfer;
    end[i] = std::max(end[i], evaluation.run.steps[s].end);
    for (auto const before : evaluation.steps[s].after)
      ready[i] = std::max(ready[i], evaluation.run.steps[index(before)].end);
  }
  double worst = 0;
  for (std::size_t i = 0; i < end.size(); ++i) worst = std::max(worst, (end[i] - ready[i]) / alone_[i]);
  return worst;
}

RatedDraft Rating::rate(Draft draft) const {
  RatedDraft rated;
  rated.draft = std::move(draft);
  rated.evaluation = evaluator_.evaluate(rated.draft);
  rated.value = value_of(rated.evaluation);
  return rated;
}

}  // namespace lanewise
