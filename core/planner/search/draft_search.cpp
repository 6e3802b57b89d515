#include "core/planner/search/draft_search.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/estimate/schedule.hpp"
#include "core/planner/bounds/best_division.hpp"
#include "core/planner/schedules/scheduled_trials.hpp"
#include "core/planner/search/local_search.hpp"
#include "core/planner/search/order_search.hpp"
#include "core/planner/search_limits.hpp"
#include "core/planner/sets/load_balance.hpp"
#include "core/planner/sets/share_loads.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {
namespace {

constexpr auto kInfinity = std::numeric_limits<double>::infinity();

// Moves bytes of each transfer from its last step to its first one to end, as many as make them end together at the
// rates that they had. False: no transfer is divided.
bool equalise_finish_times(TransferSet const& set, Model const& model, Draft& draft, Evaluation const& evaluation) {
  bool moves = false;
  std::vector<std::vector<std::size_t>> steps_of(set.transfers.size());
  for (std::size_t s = 0; s < evaluation.steps.size(); ++s) steps_of[evaluation.origins[s].transfer].push_back(s);
  for (std::size_t i = 0; i < steps_of.size(); ++i) {
    if (steps_of[i].size() < 2) continue;
    auto const ends_before = [&](std::size_t a, std::size_t b) {
      return evaluation.run.steps[a].end < evaluation.run.steps[b].end;
    };
    auto const [first, last] = std::minmax_element(steps_of[i].begin(), steps_of[i].end(), ends_before);
    auto const from = evaluation.origins[*last].option;
    auto const to = evaluation.origins[*first].option;
    if (from == to) continue;
    auto const rate = [&](std::size_t step) {
      auto const& times = evaluation.run.steps[step];
      return (evaluation.steps[step].bytes / (times.end - times.start)).value();
    };
    auto const fast = rate(*first);
    auto const slow = rate(*last);
    auto const late = evaluation.run.steps[*last].end - evaluation.run.steps[*first].end;
    auto& shares = draft.shares[i];
    auto const moved = std::min(late.value() * fast * slow / (fast + slow), shares[from]);
    shares[from] -= moved;
    shares[to] += moved;
    drop_small_pieces(model, set.transfers[i], shares);
    moves = true;
  }
  return moves;
}

// Of divisions or drafts, those of the lowest values.
template <class Tried>
void keep_best(std::vector<Tried>& tried, std::size_t count) {
  std::stable_sort(tried.begin(), tried.end(), [](Tried const& a, Tried const& b) { return a.value < b.value; });
  tried.resize(std::min(tried.size(), count));
}

}  // namespace

RatedDraft DraftSearch::run(double default_value, double wanted) {
  best_.value = default_value;
  wanted_ = wanted;
  if (aim_.effort == Effort::Quick) {
    search_quickly();
    return std::move(best_);
  }
  search();
  auto const scheduled = can_be_scheduled() && !gives_up_at(best_.value) ? search_schedules() : RatedDraft{};
  if (is_improvement(scheduled.value))
    best_ = scheduled;
  else if (best_.value <= wanted)
    simplify(default_value);
  return std::move(best_);
}

// By the margin that a plan which is harder to run needs, or because it reaches what is wanted and the best draft does
// not.
bool DraftSearch::is_improvement(double value) const {
  return value * (1 + kSearchLimits.min_improvement) <= best_.value || (best_.value > wanted_ && value <= wanted_);
}
bool DraftSearch::is_close_enough() const { return best_.value <= lower_bound_ * (1 + kSearchLimits.close_enough_gap); }
// Whether the best draft is known to be further from the lower bound than this.
bool DraftSearch::has_gap(double gap) const { return is_bounded() && best_.value > lower_bound_ * (1 + gap); }

// Whether a search that begins with a draft of this value cannot be expected to find what is wanted; remembers it for
// least_expected(). An unknown bound counts as 0.
bool DraftSearch::gives_up_at(double value) {
  if (expected_from(value) <= wanted_) return false;
  has_given_up_ = true;
  return true;
}

double DraftSearch::least_expected(double value) const {
  if (lower_bound_ > wanted_) return std::min(value, lower_bound_);  // ended before any division was tried
  return has_given_up_ ? std::min(value, expected_from(value)) : value;
}

void DraftSearch::search_quickly() {
  auto const balanced = balanced_shares();
  if (!is_small()) {
    try_shares(balanced, 1, std::span(kFewAdmissionPolicies).last(2));
    return;
  }
  for (auto const& shares : {default_shares(set_), balanced, undivided(balanced)})
    try_shares(shares, 1, kFewAdmissionPolicies);
}

void DraftSearch::search() {
  auto const optimal = optimal_shares();
  if (lower_bound_ > wanted_) return;
  best_.draft.shares = default_shares(set_);
  bool const has_orders = !is_small() && count() <= kSearchLimits.max_searched_set;
  if (has_orders && aim_.objective != Objective::Slowdown)
    search_divisions_and_orders(optimal);
  else
    search_divisions(optimal);
}

void DraftSearch::search_divisions(std::vector<std::vector<Shares>> const& optimal) {
  std::vector<TriedShares> tried;
  try_once(tried, default_shares(set_), kAdmissionPolicies);
  auto const balanced = balanced_shares();
  try_once(tried, undivided(balanced), kAdmissionPolicies);
  try_once(tried, balanced, kAdmissionPolicies);
  if (aim_.objective == Objective::Slowdown || is_close_enough()) return;
  for (auto const& shares : optimal) {
    try_once(tried, shares, kAdmissionPolicies);
    try_once(tried, undivided(shares), kAdmissionPolicies);
  }
  if (count() > kSearchLimits.max_searched_set || is_close_enough() || gives_up_at(best_.value)) return;
  keep_best(tried, kSearchLimits.max_divisions_in_pieces);
  for (std::size_t const pieces_per_share : {2, 4})
    for (auto const& [value, shares] : tried) try_shares(shares, pieces_per_share);
  search_locally();
}

// Of sets that are not small.
void DraftSearch::search_divisions_and_orders(std::vector<std::vector<Shares>> const& optimal) {
  std::vector<TriedShares> tried;
  try_once(tried, default_shares(set_), kFewAdmissionPolicies);
  if (optimal.empty()) try_once(tried, balanced_shares(), kFewAdmissionPolicies);
  for (auto const& shares : optimal) try_once(tried, shares, kFewAdmissionPolicies);
  keep_best(tried, kSearchLimits.max_divisions_in_halves);
  if (is_close_enough() || gives_up_at(tried.front().value)) return;
  for (auto const& [value, shares] : tried) try_shares(shares, 2, kFewAdmissionPolicies);
  if (is_close_enough()) return;
  if (can_be_scheduled() && has_gap(kSearchLimits.large_gap)) return search_locally(1);
  auto drafts =
      best_tried(can_be_scheduled() ? kSearchLimits.drafts_in_orders_before_schedules : kSearchLimits.drafts_in_orders);
  if (gives_up_at(drafts.front().value)) return;
  auto const good_enough = std::min(wanted_, lower_bound_ * (1 + kSearchLimits.min_gap_to_schedule_large_set));
  auto found = search_orders(std::move(drafts), set_, rating_, good_enough);
  if (is_improvement(found.value)) best_ = std::move(found);
}

// Tries shares unless they are among those tried.
void DraftSearch::try_once(std::vector<TriedShares>& tried, std::vector<Shares> shares,
                           std::span<AdmissionPolicy const> policies) {
  for (auto const& [value, other] : tried)
    if (other == shares) return;
  auto const value = try_shares(shares, 1, policies);
  tried.push_back({value, std::move(shares)});
}

std::vector<TriedDraft> DraftSearch::best_tried(std::size_t count) const {
  auto tried = tried_;
  keep_best(tried, count);
  return tried;
}

bool DraftSearch::can_be_scheduled() const {
  return count() <= kSearchLimits.max_scheduled_set && is_bounded() &&
         std::find(set_.is_indivisible.begin(), set_.is_indivisible.end(), true) == set_.is_indivisible.end();
}

// Evaluates schedules where there is room for a better plan, of sets that can be scheduled. Returns the best plan that
// keeps to a schedule. Of small sets, drafts with the shares of schedules, which need not keep to one, replace the best
// draft where they are clearly better: by up to 5 %; of the larger bundled sets none was.
RatedDraft DraftSearch::search_schedules() {
  auto const gap =
      is_small() ? kSearchLimits.min_gap_to_schedule_small_set : kSearchLimits.min_gap_to_schedule_large_set;
  bool const has_room = has_gap(gap) || best_.value > wanted_;
  if (!has_room) return {};
  auto [scheduled, divisions] =
      evaluate_schedules(set_, model_, {Seconds(best_.value), best_.evaluation}, Seconds(wanted_));
  if (is_small()) try_divisions(divisions);
  if (!scheduled) return {};
  auto const value = value_of(*scheduled);
  return {{}, std::move(*scheduled), value};
}

void DraftSearch::try_divisions(std::vector<std::vector<Shares>> const& divisions) {
  auto before = std::exchange(best_, {});
  for (auto const& shares : divisions)
    for (std::size_t const pieces_per_share : {1, 2, 4}) try_shares(shares, pieces_per_share);
  if (!divisions.empty() && has_gap(kSearchLimits.large_gap)) search_locally();
  if (auto found = std::exchange(best_, std::move(before)); is_improvement(found.value)) best_ = std::move(found);
}

// Sends transfers whose division gains next to nothing over one option: their default one, or that of most bytes.
void DraftSearch::simplify(double default_value) {
  if (best_.evaluation.steps.empty() || count() > kSearchLimits.max_searched_set) return;
  auto const most = std::min({best_.value * (1 + kSearchLimits.simplify_tolerance),
                              default_value / (1 + kSearchLimits.min_improvement), wanted_});
  bool const counts_makespan = aim_.objective != Objective::Slowdown;
  ShareLoads loads(set_, model_, best_.draft.shares);
  for (std::size_t i = 0; i < count(); ++i) {
    auto const& shares = best_.draft.shares[i];
    if (std::count_if(shares.begin(), shares.end(), [](double bytes) { return bytes > 0; }) < 2) continue;
    auto const largest = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    std::vector<std::size_t> options{set_.default_option[i]};
    if (largest != options.front()) options.push_back(largest);
    for (auto const only : options) {
      if (counts_makespan && loads.busiest_if_undivided(i, only).value() > most) continue;
      auto draft = best_.draft;
      std::fill(draft.shares[i].begin(), draft.shares[i].end(), 0.0);
      draft.shares[i][only] = static_cast<double>(set_.transfers[i].bytes.value());
      auto next = rating_.rate(std::move(draft));
      if (next.value > most) continue;
      best_ = std::move(next);
      loads.undivide(i, only);
      break;
    }
  }
}

// Tries shares with each admission policy. Returns the best value found, infinity where none was tried.
double DraftSearch::try_shares(std::vector<Shares> const& shares, std::size_t pieces_per_share,
                               std::span<AdmissionPolicy const> policies) {
  auto best = kInfinity;
  std::optional<DraftSteps> steps;  // the same for all policies
  for (auto const& policy : policies) {
    if (policy.max_utilisation > 0 && count() == 1) continue;
    if (is_close_enough()) return best;
    if (count() > kSearchLimits.max_searched_set && policy.priority == Priority::BottleneckFirst) continue;
    Draft draft{shares, policy.max_utilisation, policy.priority, pieces_per_share,
                aim_.objective == Objective::Slowdown};
    if (!steps) steps = evaluator_.steps_of(draft);
    best = std::min(best, try_draft(std::move(draft), *steps));
  }
  return best;
}

// Tries a draft, and in small sets moves its bytes until the pieces of each transfer end together.
double DraftSearch::try_draft(Draft draft, DraftSteps const& steps) {
  auto best = kInfinity;
  auto const rounds = count() <= kSearchLimits.max_equalised_set ? kSearchLimits.equalisation_rounds : 1;
  bool moves = true;
  for (int round = 1; round <= rounds && moves; ++round) {
    auto evaluation = round == 1 ? evaluator_.evaluate(steps, draft) : evaluator_.evaluate(draft);
    auto const value = value_of(evaluation);
    if (value > best * (1 - kSearchLimits.min_equalisation_gain)) break;
    best = value;
    auto next = draft;
    moves = round < rounds && equalise_finish_times(set_, model_, next, evaluation);
    if (!is_small()) tried_.push_back({value, draft});
    if (is_improvement(value)) best_ = {std::move(draft), std::move(evaluation), value};
    draft = std::move(next);
  }
  return best;
}

void DraftSearch::search_locally() {
  search_locally(1);
  for (unsigned seed = 2; seed <= kSearchLimits.max_local_searches && has_gap(kSearchLimits.large_gap); ++seed)
    search_locally(seed);
}
void DraftSearch::search_locally(unsigned seed) {
  auto found = local_search(best_, set_, model_, rating_, lower_bound_, seed);
  if (is_improvement(found.value)) best_ = std::move(found);
}

// Balances the loads of transfers of equal depth: they run at about the same time.
std::vector<Shares> DraftSearch::balanced_shares() const {
  auto shares = default_shares(set_);
  auto const deepest = *std::max_element(set_.depth.begin(), set_.depth.end());
  for (std::size_t depth = 0; depth <= deepest; ++depth) {
    std::vector<SetMember> together;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < count(); ++i) {
      if (set_.depth[i] != depth || set_.transfers[i].bytes == Bytes(0)) continue;
      members.push_back(i);
      together.push_back({&set_.transfers[i], set_.default_option[i]});
    }
    if (together.empty()) continue;
    auto found =
        (aim_.effort == Effort::Quick ? balance_load_quickly(together, model_) : balance_load(together, model_)).shares;
    for (std::size_t k = 0; k < members.size(); ++k) {
      drop_small_pieces(model_, set_.transfers[members[k]], found[k]);
      shares[members[k]] = std::move(found[k]);
    }
  }
  return shares;
}

// The divisions of the lower bound's linear program, for transfers that may all begin at once: the one of the least
// makespan, and the least congested one. Sets the lower bound.
std::vector<std::vector<Shares>> DraftSearch::optimal_shares() {
  if (aim_.objective == Objective::Slowdown || *std::max_element(set_.depth.begin(), set_.depth.end()) > 0) return {};
  auto division = best_division(set_.transfers, model_, Seconds(wanted_));
  if (!division) return {};
  lower_bound_ = division->makespan.value();
  std::vector<std::vector<Shares>> all;
  for (auto* bytes : {&division->bytes, &division->least_congested}) {
    if (bytes->empty()) continue;
    for (std::size_t i = 0; i < count(); ++i) drop_small_pieces(model_, set_.transfers[i], (*bytes)[i]);
    all.push_back(std::move(*bytes));
  }
  return all;
}

}  // namespace lanewise
