#include "lanewise/verdict/rival.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>

#include "core/io/interrupt.hpp"
#include "core/units/statistics.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kErrorLevel = 0.05;                       // of all comparisons of a plan together
constexpr Bytes kMaxPreparedBytes{std::int64_t{4} << 30};  // of the rivals that are prepared at once
constexpr int kComparisons = 2;                            // of a rival: makespan and own end

// The end of the decided transfer, whatever the way divides it into.
Seconds own_end(Plan const& plan, std::size_t decision, RunTimes const& times) {
  auto const& decided = plan.decisions[decision];
  auto end = times.steps[index(decided.step)].end;
  for (auto const& piece : decided.others) end = std::max(end, times.steps[index(piece.step)].end);
  return end;
}

// What the plan's steps keep in memory: a source and a target for each, or the buffers that they share.
Bytes memory_of(Plan const& plan) {
  Bytes bytes{0};
  for (auto const& buffer : plan.buffers) bytes += buffer.bytes;
  for (auto const& step : plan.steps)
    if (!step.reads) bytes += step.bytes + step.bytes;
  return bytes;
}

// A single ratio, of which nothing more is known.
TimeRatio single(double value, bool is_exact) {
  return {value, is_exact ? ConfidenceInterval{value, value} : ConfidenceInterval{}};
}

// The rival and what was measured of it so far.
class Contender {
 public:
  explicit Contender(Rival const& rival) : rival_(rival), plan_(rival.plan()) { result_.way = rival.way; }

  [[nodiscard]] Plan const& plan() const { return plan_; }
  [[nodiscard]] bool is_out() const { return out_; }
  // Whether the makespan's ratio is known to this share of it either way.
  [[nodiscard]] bool is_known_to(double precision) const {
    auto const& [value, interval] = result_.makespan_ratio;
    return interval.is_bounded() && interval.high - interval.low <= 2 * precision * value;
  }
  RivalResult take_result() { return std::move(result_); }

  // Sets why it cannot run, where it cannot.
  void prepare(Executor& executor) {
    try {
      prepared_ = executor.prepare(plan_);
    } catch (PlanError const& error) {
      refuse(error);
    } catch (MissingError const& error) {
      refuse(error);
    }
  }
  RunTimes once() { return prepared_->once(); }
  void release() { prepared_.reset(); }

  void add(RunTimes const& mine, Plan const& plan, RunTimes const& plans) {
    makespans_.push_back(mine.makespan.value());
    makespan_ratios_.push_back(std::log(mine.makespan / plans.makespan));
    if (!rival_.decision) return;
    end_ratios_.push_back(std::log(own_end(plan_, *rival_.decision, mine) / own_end(plan, *rival_.decision, plans)));
  }

  // Sets the ratios with intervals of this error level, and leaves once they settle the standing.
  void look(double error_level) {
    if (out_ || makespans_.empty()) return;
    result_.rounds = makespans_.size();
    result_.makespan = Seconds(median(makespans_));
    result_.makespan_ratio = ratio(makespan_ratios_, error_level);
    if (rival_.decision) result_.end_ratio = ratio(end_ratios_, error_level);
    out_ = result_.standing() != Standing::WithinNoise;
  }

 private:
  void refuse(std::exception const& error) {
    result_.not_run = error.what();
    out_ = true;
  }
  static TimeRatio ratio(std::vector<double> const& logarithms, double error_level) {
    auto const interval = signed_rank_interval(logarithms, error_level);
    return {std::exp(pseudo_median(logarithms)), {std::exp(interval.low), std::exp(interval.high)}};
  }

  Rival const& rival_;
  Plan plan_;
  std::unique_ptr<RepeatableRun> prepared_;
  RivalResult result_;
  std::vector<double> makespans_;                     // seconds
  std::vector<double> makespan_ratios_, end_ratios_;  // logarithms, by round
  bool out_ = false;                                  // settled, or it cannot run
};

class RoundRobin {
 public:
  RoundRobin(Plan const& plan, Executor& executor, Alternation const& alternation, std::size_t rivals)
      : plan_(plan),
        executor_(executor),
        alternation_(alternation),
        error_level_(kErrorLevel / static_cast<double>(kComparisons * std::max<std::size_t>(rivals, 1))),
        left_(alternation.budget.value()),
        rivals_left_(rivals) {}

  // Runs a group of rivals, which takes its share of the budget.
  void run(std::vector<Contender>& group) {
    auto const began = Clock::now();
    auto const share = static_cast<double>(group.size()) / static_cast<double>(rivals_left_);
    auto const until = began + std::chrono::duration<double>(left_ * share);
    auto const prepared = executor_.prepare(plan_);
    for (auto& contender : group) contender.prepare(executor_);
    play(*prepared, group, until);
    for (auto& contender : group) contender.release();
    left_ = std::max(0.0, left_ - std::chrono::duration<double>(Clock::now() - began).count());
    rivals_left_ -= group.size();
  }

 private:
  // Looks cost confidence: the first takes half of the error level, each further one half of what is left. They are at
  // the first round that can settle anything, at twice as many rounds each time, and at the end.
  template <class Until>
  void play(RepeatableRun& prepared, std::vector<Contender>& group, Until until) {
    auto level = error_level_ / 2;
    auto next_look = min_signed_rank_sample(level);
    bool has_news = false;  // since the last look
    auto const most = alternation_.max_rounds * (alternation_.precision ? kMaxExtension : 1);
    for (std::size_t round = 0; round < most && any_left(group); ++round) {
      if (round > 1 && Clock::now() > until) break;
      if (round >= alternation_.max_rounds && are_known(group)) break;
      play_round(prepared, group, round > 0);
      has_news = true;
      if (round < next_look) continue;
      look(group, level);
      has_news = false;
      level /= 2;
      next_look *= 2;
    }
    if (has_news) look(group, level);
  }

  // `counts`: the first round only warms up.
  void play_round(RepeatableRun& prepared, std::vector<Contender>& group, bool counts) {
    throw_if_interrupted();
    constexpr auto kPlan = static_cast<std::size_t>(-1);  // its turn among the rivals
    std::vector<std::size_t> turns{kPlan};
    for (std::size_t i = 0; i < group.size(); ++i)
      if (!group[i].is_out()) turns.push_back(i);
    std::shuffle(turns.begin(), turns.end(), random_);
    RunTimes plans;
    std::vector<RunTimes> times(group.size());
    for (auto const turn : turns)
      (turn == kPlan ? plans : times[turn]) = turn == kPlan ? prepared.once() : group[turn].once();
    if (!counts) return;
    for (auto const turn : turns)
      if (turn != kPlan) group[turn].add(times[turn], plan_, plans);
  }

  static void look(std::vector<Contender>& group, double level) {
    for (auto& contender : group) contender.look(level);
  }
  static bool any_left(std::vector<Contender> const& group) {
    return std::any_of(group.begin(), group.end(), [](Contender const& contender) { return !contender.is_out(); });
  }

  // As well as wanted, by the last look.
  [[nodiscard]] bool are_known(std::vector<Contender> const& group) const {
    return std::all_of(group.begin(), group.end(), [&](Contender const& contender) {
      return contender.is_out() || contender.is_known_to(*alternation_.precision);
    });
  }

  Plan const& plan_;
  Executor& executor_;
  Alternation alternation_;
  double error_level_;  // of each comparison
  double left_;         // s of the budget
  std::size_t rivals_left_;
  std::mt19937 random_{1};  // the same orders every time
};

}  // namespace

std::vector<RivalResult> run_rivals(std::vector<Rival> const& rivals, Plan const& plan, Trace const& trace,
                                    Executor& executor) {
  auto const chosen = times_of(trace);
  std::vector<RivalResult> results;
  for (auto const& rival : rivals) {
    auto& result = results.emplace_back();
    result.way = rival.way;
    try {
      auto const other = rival.plan();
      auto const times = times_of(executor.run(other));
      result.makespan = times.makespan;
      result.makespan_ratio = single(times.makespan / chosen.makespan, executor.is_exact());
      if (rival.decision)
        result.end_ratio = single(own_end(other, *rival.decision, times) / own_end(plan, *rival.decision, chosen),
                                  executor.is_exact());
    } catch (PlanError const& error) {
      result.not_run = error.what();
    } catch (MissingError const& error) {
      result.not_run = error.what();
    }
  }
  return results;
}

std::vector<RivalResult> run_in_turn(std::vector<Rival> const& rivals, Plan const& plan, Executor& executor,
                                     Alternation const& alternation) {
  std::vector<RivalResult> results;
  RoundRobin rounds(plan, executor, alternation, rivals.size());
  for (std::size_t next = 0; next < rivals.size();) {
    std::vector<Contender> group;
    group.reserve(rivals.size() - next);  // prepared plans point at the contenders' plans
    Bytes bytes{0};
    while (next < rivals.size()) {
      group.emplace_back(rivals[next++]);
      bytes += memory_of(group.back().plan());
      if (bytes > kMaxPreparedBytes) break;
    }
    rounds.run(group);
    for (auto& contender : group) results.push_back(contender.take_result());
  }
  return results;
}

}  // namespace lanewise
