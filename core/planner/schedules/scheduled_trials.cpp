#include "core/planner/schedules/scheduled_trials.hpp"

#include <algorithm>

#include "core/planner/schedules/configuration_program.hpp"
#include "core/planner/schedules/resizing.hpp"
#include "core/planner/schedules/segments.hpp"

namespace lanewise {
namespace {

// What few pieces come to depends on luck: up to 4 % of makespan for four GPUs. A search of theirs takes milliseconds.
constexpr std::size_t kSmallSet = 16;
constexpr unsigned kSearchesOfSmall = 3;

// How often a schedule is made once more, with what its pieces really take to start.
constexpr int kTimes = 3;

// So far behind what is known already, it is not made again: the second is some percent shorter than the first.
constexpr double kHopeless = 1.05;

// Of what all schedules come to, so many of the best get pieces of other sizes so often, and then the best again: so
// much larger or smaller at most.
constexpr std::size_t kMaxResized = 3;
constexpr int kResizings = 2;
constexpr int kMoreResizings = 6;
constexpr double kOtherSize = 0.1;
constexpr double kHardlyOther = 0.01;  // no less is tried
// How far behind what is known they may be for that: it makes them some percent shorter.
constexpr double kWorthResizing = 1.1;

struct Timed {
  std::vector<Segment> segments;
  Evaluation evaluation;
};
bool is_earlier(Timed const& one, Timed const& other) {
  return one.evaluation.run.makespan < other.evaluation.run.makespan;
}

// What schedules come to, the best first.
std::vector<Timed> best_on_time(std::vector<Schedule> const& schedules, TransferSet const& set, Model const& model) {
  std::vector<Timed> all;
  for (auto const& schedule : schedules) {
    auto segments = segments_of(schedule, set, model);
    if (!all_move(segments, set)) continue;  // what is too small for a slice
    auto evaluation = evaluate_segments(segments, set, model);
    all.push_back({std::move(segments), std::move(evaluation)});
  }
  std::stable_sort(all.begin(), all.end(), is_earlier);
  all.resize(std::min(all.size(), kMaxResized));
  return all;
}

// The best of what pieces of several sizes come to, from the best so far on: by half as much after sizes that were no
// better, since at other sizes other rates hold.
Timed in_other_sizes(Timed best, TransferSet const& set, Model const& model, int times) {
  auto other = kOtherSize;
  Basis basis;
  for (int time = 0; time < times && other >= kHardlyOther; ++time) {
    auto segments = resize(best.segments, best.evaluation, set, model, other, basis);
    if (!segments) break;
    drop_small(*segments, set, model);
    std::optional<Evaluation> evaluation;
    if (all_move(*segments, set)) evaluation = evaluate_segments(*segments, set, model);
    if (evaluation && evaluation->run.makespan < best.evaluation.run.makespan)
      best = {std::move(*segments), std::move(*evaluation)};
    else
      other /= 2;
  }
  return best;
}

std::vector<Shares> shares_of(std::vector<Segment> const& segments, TransferSet const& set, Model const& model) {
  std::vector<Shares> shares;
  for (auto const& transfer : set.transfers) shares.emplace_back(transfer.options.size(), 0.0);
  for (auto const& segment : segments) shares[segment.transfer][segment.option] += segment.bytes;
  for (std::size_t i = 0; i < shares.size(); ++i) drop_small_pieces(model, set.transfers[i], shares[i]);
  return shares;
}

// How long the pieces of every option are in the mean; of those not in use what they could be.
std::vector<Shares> mean_pieces(std::vector<Segment> const& segments, TransferSet const& set) {
  constexpr double kCouldBe = 0.25;
  std::vector<Shares> bytes;
  std::vector<Shares> counts;
  for (auto const& transfer : set.transfers) {
    bytes.emplace_back(transfer.options.size(), 0.0);
    counts.emplace_back(transfer.options.size(), 0.0);
  }
  for (auto const& segment : segments) {
    bytes[segment.transfer][segment.option] += segment.bytes;
    counts[segment.transfer][segment.option] += 1;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (std::size_t o = 0; o < bytes[i].size(); ++o)
      bytes[i][o] = counts[i][o] > 0 ? bytes[i][o] / counts[i][o]
                                     : kCouldBe * static_cast<double>(set.transfers[i].bytes.value());
  return bytes;
}

// Before anything is known: who has several ways mostly uses two.
std::vector<Shares> likely_pieces(TransferSet const& set) {
  std::vector<Shares> pieces;
  for (auto const& transfer : set.transfers) {
    auto const ways = transfer.options.size();
    pieces.emplace_back(ways, static_cast<double>(transfer.bytes.value()) / (ways > 1 ? 2 : 1));
  }
  return pieces;
}

// Adds what the schedules of one search come to.
void try_on_time(ScheduledTrials& result, TransferSet const& set, Model const& model, Seconds known, unsigned seed) {
  ConfigurationProgram program(set, model, seed);
  program.set_pieces(likely_pieces(set));
  for (int time = 0; time < kTimes; ++time) {
    auto timed = best_on_time(program.solve(), set, model);
    if (timed.empty()) break;
    for (auto& one : timed) {
      if (auto shares = shares_of(one.segments, set, model);
          std::find(result.shares.begin(), result.shares.end(), shares) == result.shares.end())
        result.shares.push_back(std::move(shares));
      if (one.evaluation.run.makespan <= known * kWorthResizing)
        one = in_other_sizes(std::move(one), set, model, kResizings);
    }
    auto best = std::move(*std::min_element(timed.begin(), timed.end(), is_earlier));
    bool const is_hopeless = best.evaluation.run.makespan > known * kHopeless;
    if (!is_hopeless) best = in_other_sizes(std::move(best), set, model, kMoreResizings);
    if (!result.best || best.evaluation.run.makespan < result.best->run.makespan)
      result.best = std::move(best.evaluation);
    if (is_hopeless) break;
    program.set_pieces(mean_pieces(best.segments, set));
  }
}

}  // namespace

ScheduledTrials evaluate_schedules(TransferSet const& set, Model const& model, Seconds known) {
  ScheduledTrials result;
  auto const searches = set.transfers.size() <= kSmallSet ? kSearchesOfSmall : 1;
  for (unsigned seed = 1; seed <= searches; ++seed) try_on_time(result, set, model, known, seed);
  return result;
}

}  // namespace lanewise
