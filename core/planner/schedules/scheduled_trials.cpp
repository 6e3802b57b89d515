#include "core/planner/schedules/scheduled_trials.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/planner/schedules/configuration_program.hpp"
#include "core/planner/schedules/resizing.hpp"
#include "core/planner/schedules/schedule_limits.hpp"
#include "core/planner/schedules/segments.hpp"

namespace lanewise {
namespace {

struct Trial {
  std::vector<Segment> segments;
  Evaluation evaluation;
};
bool is_earlier(Trial const& one, Trial const& other) {
  return one.evaluation.run.makespan < other.evaluation.run.makespan;
}

// The best of them, the best first.
std::vector<Trial> best_trials(std::vector<Schedule> const& schedules, TransferSet const& set, Model const& model,
                               SegmentEvaluator const& evaluator) {
  std::vector<Trial> all;
  for (auto const& schedule : schedules) {
    auto segments = segments_of(schedule, set, model);
    if (!all_move(segments, set)) continue;  // a transfer too small for a slice
    auto evaluation = evaluator.evaluate(segments);
    all.push_back({std::move(segments), std::move(evaluation)});
  }
  std::stable_sort(all.begin(), all.end(), is_earlier);
  all.resize(std::min(all.size(), kScheduleLimits.max_kept_schedules));
  return all;
}

// The best trial after some rounds of resizing. At other sizes other rates hold, so a round may get worse: then the
// permitted change is halved.
Trial after_resizing(Trial best, TransferSet const& set, Model const& model, SegmentEvaluator const& evaluator) {
  auto change = kScheduleLimits.max_size_change;
  for (int round = 0; round < kScheduleLimits.resizing_rounds && change >= kScheduleLimits.min_size_change; ++round) {
    auto segments = resize(best.segments, best.evaluation, set, model, change);
    drop_small(segments, set, model);
    std::optional<Evaluation> evaluation;
    if (all_move(segments, set)) evaluation = evaluator.evaluate(segments);
    if (evaluation && evaluation->run.makespan < best.evaluation.run.makespan)
      best = {std::move(segments), std::move(*evaluation)};
    else
      change /= 2;
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

// The mean bytes of the segments of every kind of option; a guess for those not in use. `kinds`: of the options,
// numbered through.
std::vector<Shares> mean_pieces(std::vector<Segment> const& segments, TransferSet const& set,
                                std::vector<std::uint32_t> const& kinds) {
  auto const first = first_options(set);
  std::vector<double> bytes(kinds.size(), 0);  // by kind
  std::vector<double> counts(kinds.size(), 0);
  for (auto const& segment : segments) {
    auto const kind = kinds[first[segment.transfer] + segment.option];
    bytes[kind] += segment.bytes;
    counts[kind] += 1;
  }
  std::vector<Shares> pieces;
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto& of_transfer = pieces.emplace_back();
    for (auto option = first[i]; option < first[i + 1]; ++option) {
      auto const kind = kinds[option];
      of_transfer.push_back(counts[kind] > 0 ? bytes[kind] / counts[kind]
                                             : kScheduleLimits.unused_piece_share *
                                                   static_cast<double>(set.transfers[i].bytes.value()));
    }
  }
  return pieces;
}

// The guess before any schedule is known: a transfer with several options mostly uses two.
std::vector<Shares> likely_pieces(TransferSet const& set) {
  std::vector<Shares> pieces;
  for (auto const& transfer : set.transfers) {
    auto const options = transfer.options.size();
    pieces.emplace_back(options, static_cast<double>(transfer.bytes.value()) / (options > 1 ? 2 : 1));
  }
  return pieces;
}

// Adds the results of one column generation and its iterations.
void add_trials(ScheduledTrials& result, TransferSet const& set, Model const& model, KnownPlan const& known,
                SegmentEvaluator const& evaluator, unsigned seed) {
  ConfigurationProgram program(set, model, seed);
  program.set_pieces(likely_pieces(set));
  program.add_configurations_of(known.evaluation);
  Seconds shortest(std::numeric_limits<double>::infinity());  // of this generation
  for (int iteration = 0; iteration < kScheduleLimits.max_iterations; ++iteration) {
    auto trials = best_trials(program.solve(), set, model, evaluator);
    if (trials.empty()) break;
    for (auto const& trial : trials)
      if (auto shares = shares_of(trial.segments, set, model);
          std::find(result.shares.begin(), result.shares.end(), shares) == result.shares.end())
        result.shares.push_back(std::move(shares));
    auto best = std::move(trials.front());
    if (best.evaluation.run.makespan <= known.makespan * kScheduleLimits.max_ratio_to_resize)
      best = after_resizing(std::move(best), set, model, evaluator);
    auto const makespan = best.evaluation.run.makespan;
    bool const is_last = makespan > known.makespan * kScheduleLimits.max_ratio_to_iterate ||
                         makespan * (1 + kScheduleLimits.min_gain_to_iterate) > shortest;
    shortest = std::min(shortest, makespan);
    if (!result.best || best.evaluation.run.makespan < result.best->run.makespan)
      result.best = std::move(best.evaluation);
    if (is_last) break;
    program.set_pieces(mean_pieces(best.segments, set, program.kinds_of_flows()));
  }
}

}  // namespace

ScheduledTrials evaluate_schedules(TransferSet const& set, Model const& model, KnownPlan const& known, Seconds wanted) {
  ScheduledTrials result;
  SegmentEvaluator const evaluator(set, model);
  bool const is_small = set.transfers.size() <= kScheduleLimits.small_set;
  auto const generations = is_small ? kScheduleLimits.generations_of_small_set : 1;
  for (unsigned seed = 1; seed <= generations; ++seed) add_trials(result, set, model, known, evaluator, seed);
  if (is_small || known.makespan <= wanted) return result;
  auto const misses_by_less_than = [&](double ratio) {
    return result.best && result.best->run.makespan > wanted && result.best->run.makespan <= wanted * ratio;
  };
  auto ratio = kScheduleLimits.max_ratio_to_generate_again;
  for (unsigned seed = 2; seed <= kScheduleLimits.max_generations && misses_by_less_than(ratio); ++seed) {
    ratio = kScheduleLimits.max_ratio_to_go_on_generating;
    auto const best = *result.best;
    bool const known_is_better = known.makespan <= best.run.makespan;
    add_trials(result, set, model, known_is_better ? known : KnownPlan{best.run.makespan, best}, evaluator, seed);
  }
  return result;
}

}  // namespace lanewise
