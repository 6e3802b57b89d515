#pragma once
// How far the search for a plan of a transfer set goes, and how much better a plan must be to be chosen.
// docs/planner-limits.md lists the values.
#include <cstddef>

#include "lanewise/units/quantity.hpp"

namespace lanewise {

struct SearchLimits {
  // ---- When a plan is better, and when the search ends. Fractions of the makespan.
  // A plan that is harder to run (split, or admission-controlled) must be faster than the simpler one by this.
  double min_improvement = 0.01;
  // A set moved by kernels, all of it or in part, must be faster than by copy engines by this: kernels take
  // multiprocessors from what computes, and are predicted to within some percent.
  double min_gain_by_kernels = 0.04;
  // With kernels beside copy engines it must be faster than with either alone by this, and by this time besides. On
  // 2 x H100 kernels beside copies in the other direction took 5 % (256 MiB) to 8 % (64 MiB) longer than predicted, and
  // 5 to 8 us of 4 and 16 MiB; in the same direction both took 1 to 3 % longer, and 4 us. A set of 200 us, predicted
  // 10 us faster than by copy engines alone, was 4 to 8 us slower.
  double min_gain_by_both_movers = 0.08;
  Seconds min_seconds_by_both_movers{6e-6};
  // The search ends this close to the lower bound.
  double close_enough_gap = 0.02;
  // Smaller pieces, local search, orders and schedules are expected to leave at least this part of the gap between the
  // best draft and the lower bound. They are skipped where even that plan would take longer than wanted.
  double least_gap_left = 0.2;
  // Local search is repeated from its own result while the gap to the lower bound is larger than this. Sets that are
  // not small but can have schedules are then searched locally instead of for orders, which gain less.
  double large_gap = 0.15;
  // An undivided transfer replaces a divided one if the plan gets slower by no more than this.
  double simplify_tolerance = 0.003;

  // ---- Sizes of sets, in transfers. Costly drafts are skipped for larger ones: every evaluation takes long there.
  // Up to this size all costly steps are taken: every admission policy, local search, and schedules above a smaller
  // gap. Schedules of such a set take milliseconds, those of 56 transfers some tenths of a second.
  std::size_t small_set = 16;
  // Up to this size a schedule is made where there is room for a better plan.
  std::size_t max_scheduled_set = 64;
  // Up to this size shares are divided into pieces, orders are searched, and divisions simplified; and exchanges of so
  // many blocks are planned as a set.
  std::size_t max_searched_set = 300;
  // Up to this size bytes are moved between the pieces of a transfer until these end together.
  std::size_t max_equalised_set = 8;

  // ---- Equalising finish times.
  int equalisation_rounds = 8;
  double min_equalisation_gain = 1e-3;  // less gain in a round ends it

  // ---- Pieces.
  // A piece below this share of its transfer is merged into the largest one.
  double min_share = 0.02;
  // A piece flows at least this many times as long as it takes to start.
  double min_flow_to_latency_ratio = 10;
  // The best divisions of the bytes are tried with smaller pieces too: this many of a small set in 2 and 4 pieces, and
  // of a larger one in 2.
  std::size_t max_divisions_in_pieces = 3;
  std::size_t max_divisions_in_halves = 2;

  // ---- Orders, of sets that are not small (order_search.hpp). On the bundled machines 12 orders gained nothing in the
  // mean over 6.
  std::size_t drafts_in_orders = 4;                   // the best of those tried so far
  std::size_t drafts_in_orders_before_schedules = 3;  // of sets that get a schedule where orders leave a gap
  int orders_of_draft = 6;                            // in the first round, in the next one twice as many
  int pairs_exchanged = 4;                            // of transfers, from one order to the next

  // ---- Load balancing (load_balance.hpp). The marginal cost of a byte on a resource is
  // (time of the resource / longest time of all)^(2^k), for these k one after another: powers 8, 16, 32, 64. The higher
  // the power, the more only the busiest count; beginning high gets stuck.
  int load_balance_exponents[4] = {3, 4, 5, 6};
  int quick_load_balance_exponent = 5;   // three times faster, slightly worse
  int max_load_balance_sweeps = 6;       // over all transfers, at each power
  double min_cost_ratio_to_move = 1.02;  // of the option in use to the cheapest
  double min_move = 1.0 / 256;           // as a fraction of the transfer

  // ---- Local search with restarts.
  std::size_t max_local_moves = 300;
  std::size_t max_evaluated_steps = 8000;  // of all its drafts together: fewer moves where a draft has many steps
  unsigned max_local_searches = 3;
  // Late pieces weigh in by the power 4 of their finish time. Several pieces often end last together; moving one of
  // them then does not shorten the makespan, so the others must count. The higher, the more only the latest count.
  double lateness_exponent = 4;
  // A step counts as late if it ends after this fraction of the makespan; half of the moves pick a late step.
  double late_from = 0.97;
  // One move in this many changes the admission policy instead of a share.
  unsigned policy_change_period = 16;

  // ---- When a schedule is made: the gap to the lower bound is at least this. Orders of larger sets are searched until
  // it is smaller.
  double min_gap_to_schedule_small_set = 0.04;
  double min_gap_to_schedule_large_set = 0.07;

  // ---- Admission control: a step starts only if every resource on its route then stays at or below this utilisation.
  // Of the values tried on the bundled machines these were the best. The rates are those that steps have alone, so
  // values above 1 share.
  // No contention: weights are rounded to 1/20, and the two directions of a link together carry less than twice one.
  double uncontended_utilisation = 1.1;
  double one_each_way = 1.45;  // one step each way, on what both directions share
  double two_or_three = 2.2;   // two or three steps at a time
  double engines_only = 100;   // only engines hold steps back

  // ---- Host memory beside NVLink: how much faster a plan that uses it must be than the best plan without it.
  // One transfer's part through the host is predicted well: on 2 x H200, 128 MiB to 1 GiB, to within 3 %, 6 to 12 %
  // faster. Where several share host memory, that of a guest may give half of what it could: an exchange of 1 GiB
  // predicted 11 % faster was 2 % slower on one host and 12 % on another; an all_gather of 256 MiB predicted 4 % faster
  // was 20 % slower.
  double min_host_path_gain = 1.0 / 8;
  // The same for one transfer, and for up to `small_set` transfers that may all go by NVLink. These are planned with
  // PCIe links as slow as on the slowest machine of ten: a transfer that gets less than planned would end last.
  double min_host_path_gain_if_predictable = 0.04;
  // And by this much besides: staged parts end some microseconds later than predicted, whatever their size. Exchanges
  // of 32 MiB: 8 to 10 us; of 64 MiB: 4 to 6 us; single transfers: up to 8 us.
  Seconds min_host_path_seconds_if_predictable{4e-6};

  // ---- Peer mappings a GPU can hold over PCIe. On machines with more GPUs no second way by peer copy is added, since
  // one more mapping could be one too many.
  std::size_t max_pcie_peers = 8;
};

inline constexpr SearchLimits kSearchLimits{};

}  // namespace lanewise
