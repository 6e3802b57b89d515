#include "core/planner/search/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <utility>

#include "core/planner/search/admission.hpp"
#include "core/planner/search_limits.hpp"

namespace lanewise {
namespace {

// Any step half of the time, else one that ends near the end.
std::size_t random_late_step(Estimate const& run, std::minstd_rand& random) {
  auto const& steps = run.steps;
  auto at = random() % steps.size();
  if (random() % 2 == 0) return at;
  while (steps[at].end < kSearchLimits.late_from * run.makespan) at = (at + 1) % steps.size();
  return at;
}

// False: the move changed nothing.
bool make_random_move(Draft& draft, Evaluation const& from, TransferSet const& set, Model const& model,
                      std::minstd_rand& random) {
  auto const origin = from.origins[random_late_step(from.run, random)];
  auto const options = set.transfers[origin.transfer].options.size();
  if (options < 2 || random() % kSearchLimits.policy_change_period == 0) {
    auto const& policy = kAdmissionPolicies[random() % std::size(kAdmissionPolicies)];
    draft.max_utilisation = policy.max_utilisation;
    draft.priority = policy.priority;
    draft.pieces_per_share = std::size_t{1} << (random() % 3);
    return true;
  }
  auto to = random() % (options - 1);
  if (to >= origin.option) ++to;
  auto& shares = draft.shares[origin.transfer];
  auto const before = shares;
  auto const moved = shares[origin.option] / static_cast<double>(1 << (random() % 4));
  shares[origin.option] -= moved;
  shares[to] += moved;
  drop_small_pieces(model, set.transfers[origin.transfer], shares);
  return shares != before;
}

// The value, and up to as much again for steps that end late, weighted by bytes.
double value_with_lateness(RatedDraft const& rated) {
  auto const makespan = rated.evaluation.run.makespan.value();
  double sum = 0;
  double bytes = 0;
  for (std::size_t k = 0; k < rated.evaluation.steps.size(); ++k) {
    auto const of_step = static_cast<double>(rated.evaluation.steps[k].bytes.value());
    sum += of_step * std::pow(rated.evaluation.run.steps[k].end.value() / makespan, kSearchLimits.lateness_exponent);
    bytes += of_step;
  }
  return rated.value * (1 + sum / bytes);
}

}  // namespace

RatedDraft local_search(RatedDraft start, TransferSet const& set, Model const& model, Rating const& rating,
                        double lower_bound, unsigned seed) {
  auto current = std::move(start);
  if (current.evaluation.steps.empty()) current = rating.rate(std::move(current.draft));
  auto best = current;
  std::minstd_rand random(seed);
  auto const moves =
      std::min(kSearchLimits.max_local_moves, kSearchLimits.max_evaluated_steps / current.evaluation.steps.size());
  for (std::size_t n = 0; n < moves && best.value > lower_bound * (1 + kSearchLimits.close_enough_gap); ++n) {
    auto draft = current.draft;
    if (!make_random_move(draft, current.evaluation, set, model, random)) continue;
    auto next = rating.rate(std::move(draft));
    if (next.value < best.value) best = next;
    if (value_with_lateness(next) < value_with_lateness(current)) current = std::move(next);
  }
  return best;
}

}  // namespace lanewise
