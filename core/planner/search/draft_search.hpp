#pragma once
// Searches the drafts of one transfer set for the best one.
#include <limits>
#include <span>
#include <vector>

#include "core/planner/search/admission.hpp"
#include "core/planner/search/rated_draft.hpp"
#include "core/planner/search_limits.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

// Tries several divisions of the bytes: default options, balanced loads, and those of the lower bound's linear program.
// From the best on, small sets are searched by iterated local search (Lourenço, Martin and Stützle, 2003) over how
// bytes are divided, larger ones over the order in which transfers begin. Then schedules are tried. Cheap steps come
// first; the search ends when the best draft is close to the lower bound.
class DraftSearch {
 public:
  // `set` and `model` must outlive it.
  DraftSearch(TransferSet const& set, Model const& model, Aim aim)
      : set_(set), model_(model), aim_(aim), evaluator_(set, model), rating_(set, model, aim.objective, evaluator_) {}
  DraftSearch(DraftSearch const&) = delete;  // the rating refers to its evaluator
  DraftSearch& operator=(DraftSearch const&) = delete;
  ~DraftSearch() = default;

  [[nodiscard]] double value_of(Evaluation const& evaluation) const { return rating_.value_of(evaluation); }

  // Seconds, once a full search has run; 0: unknown.
  [[nodiscard]] double lower_bound() const { return lower_bound_; }
  // The least value that a search to the end can be expected to have found, where this one found `value`.
  [[nodiscard]] double least_expected(double value) const;

  // The best draft that is clearly better than the default plan, or that reaches `wanted` where the default plan does
  // not; its evaluation has no steps where there is none. `default_value`: of the plan in which all transfers go their
  // default ways at once. `wanted`: a draft of a higher value is of no use, so costly steps that cannot be expected to
  // reach it are left out, and it is not simplified.
  RatedDraft run(double default_value, double wanted = std::numeric_limits<double>::infinity());

 private:
  struct TriedShares {
    double value = 0;  // the best one with any policy
    std::vector<Shares> shares;
  };

  void search_quickly();
  void search();
  void search_divisions(std::vector<std::vector<Shares>> const& optimal);
  void search_divisions_and_orders(std::vector<std::vector<Shares>> const& optimal);
  void try_once(std::vector<TriedShares>& tried, std::vector<Shares> shares, std::span<AdmissionPolicy const> policies);
  [[nodiscard]] std::vector<TriedDraft> best_tried(std::size_t count) const;
  RatedDraft search_schedules();
  void try_divisions(std::vector<std::vector<Shares>> const& divisions);
  void simplify(double default_value);
  double try_shares(std::vector<Shares> const& shares, std::size_t pieces_per_share,
                    std::span<AdmissionPolicy const> policies = kAdmissionPolicies);
  double try_draft(Draft draft, DraftSteps const& steps);
  void search_locally();
  void search_locally(unsigned seed);
  [[nodiscard]] std::vector<Shares> balanced_shares() const;
  std::vector<std::vector<Shares>> optimal_shares();
  [[nodiscard]] std::size_t count() const { return set_.transfers.size(); }
  [[nodiscard]] bool is_small() const { return count() <= kSearchLimits.small_set; }
  // Only transfers that may all begin at once have a bound; only they can have schedules.
  [[nodiscard]] bool is_bounded() const { return lower_bound_ > 0; }
  [[nodiscard]] bool is_close_enough() const;
  [[nodiscard]] bool has_gap(double gap) const;
  [[nodiscard]] bool is_improvement(double value) const;
  [[nodiscard]] bool can_be_scheduled() const;
  [[nodiscard]] double expected_from(double value) const {
    return lower_bound_ + (value - lower_bound_) * kSearchLimits.least_gap_left;
  }
  bool gives_up_at(double value);

  TransferSet const& set_;
  Model const& model_;
  Aim aim_;
  DraftEvaluator evaluator_;
  Rating rating_;
  double wanted_ = std::numeric_limits<double>::infinity();
  double lower_bound_ = 0;  // seconds; 0: unknown
  bool has_given_up_ = false;
  RatedDraft best_;
  std::vector<TriedDraft> tried_;  // of a set that is not small
};

}  // namespace lanewise
