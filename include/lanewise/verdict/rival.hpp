#pragma once
// A plan's rivals: the same transfers with one decision taken otherwise, and how each compares with the plan.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/plan/executor.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/verdict/standing.hpp"

namespace lanewise {

struct Rival {
  std::string way;                      // what it does instead
  std::function<Plan()> plan;           // made when it runs: all at once may be too many
  std::optional<std::size_t> decision;  // of both plans: the transfer whose own end is compared; absent: none
};

struct RivalResult {
  std::string way;
  Seconds makespan{0};  // median
  TimeRatio makespan_ratio;
  std::optional<TimeRatio> end_ratio = {};  // of the end of the transfer that was decided
  std::size_t rounds = 1;                   // how often the two ran in turn
  std::string not_run = {};                 // why it could not run; empty: it ran
  [[nodiscard]] Standing standing() const { return standing_of(makespan_ratio, end_ratio); }
};

// So many rounds know a ratio to a thirtieth of the noise of one, and the work on an interval grows with their square.
inline constexpr std::size_t kMaxRounds = 1000;

// How rivals run in turn with the plan: A B C B A C ... until each difference is settled.
struct Alternation {
  Seconds budget{20};           // for all rivals of a plan
  std::size_t max_rounds = 24;  // of each rival, the first untimed
  // Rivals that are not settled then go on, at most kMaxExtension times as long, until the interval of their makespan's
  // ratio is this narrow either way, as a share of it; absent: they do not.
  std::optional<double> precision = {};
};
inline constexpr std::size_t kMaxExtension = 4;

// Runs every rival once and compares it with the plan's own trace. Where runs differ (Executor::is_exact), one run
// settles nothing: intervals are unbounded.
std::vector<RivalResult> run_rivals(std::vector<Rival> const& rivals, Plan const& plan, Trace const& trace,
                                    Executor& executor);

// Runs plan and rivals in rounds, each round in another order, until every rival's standing is settled or known as
// well as `precision` wants, the budget is used or `max_rounds` are done. A settled rival leaves. Ratios are of runs of
// one round, so that what disturbs a round disturbs both; the intervals hold together, for all rivals and both ratios,
// with 95 % confidence: Wilcoxon signed ranks of the ratios' logarithms, corrected by Bonferroni for the comparisons
// and for how often one looks. Rivals that need more than 4 GiB together run one group after another.
std::vector<RivalResult> run_in_turn(std::vector<Rival> const& rivals, Plan const& plan, Executor& executor,
                                     Alternation const& alternation);

}  // namespace lanewise
