#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/planner/choice/way_cache.hpp"
#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"

namespace lanewise {

// The plans of one collective by several algorithms, each with its estimated time.
class CandidatePlans {
 public:
  struct Candidate {
    Plan plan;
    Seconds time{0};
  };

  CandidatePlans(Model const& model, Collective const& collective, Keep keep);

  // Adds the plans by all wanted algorithms but packed trees.
  void add_all(std::function<bool(Algorithm)> const& is_wanted);
  // Adds folded plans. False if the participants are of too many kinds, or no algorithm lets them all do the same.
  bool add_folded();
  // Whether packed trees may help: transfers last longer than they take to start, and the best plan so far is not close
  // to what must leave and reach each participant.
  [[nodiscard]] bool is_worth_packing() const;
  // Adds the best plan by trees over the participants alone and the best one over host memory too.
  void add_packed_trees();
  // The same of planning the blocks together as a set.
  [[nodiscard]] bool is_worth_a_set() const;
  // Adds the plan of the blocks as a set if it is clearly faster than all.
  void add_planned_as_set(Effort effort);

  [[nodiscard]] bool empty() const { return candidates_.empty(); }
  // Whether trees were left out because GPUs would map more PCIe peers than they may.
  [[nodiscard]] bool exceeded_peer_limit() const { return exceeded_peer_limit_; }
  // The shortest first.
  std::vector<Candidate> take() &&;

 private:
  static constexpr Seconds kNoLimit{std::numeric_limits<double>::infinity()};

  // Plans by one algorithm, of which the fastest is kept if it takes less than `limit`.
  struct Contest {
    Seconds limit;
    Seconds time_to_beat;
    std::optional<Candidate> best;
  };

  [[nodiscard]] Seconds best_time() const;
  [[nodiscard]] bool is_far_from_cut_bounds() const;
  [[nodiscard]] bool are_joined_by_nvlink() const;
  [[nodiscard]] bool reaches_host_by_nvlink(Sites const& sites) const;
  [[nodiscard]] Sites participants() const { return {collective_.among, collective_.among.size()}; }
  void add_trees_over(Sites const& sites, Seconds time_limit);
  void add(Collective const& collective, Algorithm algorithm, TransferSchedule const& schedule,
           Seconds time_limit = kNoLimit);
  [[nodiscard]] Contest contest_below(Seconds time_limit) const;
  void enter(Contest& contest, Plan plan) const;
  void keep_best(Contest contest);
  [[nodiscard]] std::optional<Seconds> time_below(Seconds limit, Plan const& plan) const;

  Model const& model_;
  Collective const& collective_;
  Keep keep_;
  ParticipantLayout layout_;
  std::vector<Place> places_;  // participants, then their nearest host memories
  std::vector<WayCache> ways_;
  std::vector<Candidate> candidates_;
  bool exceeded_peer_limit_ = false;
};

}  // namespace lanewise
