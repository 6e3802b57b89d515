#include "core/planner/schedules/segments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/estimate/schedule.hpp"
#include "core/planner/search_limits.hpp"

namespace lanewise {
namespace {

// One for each segment. The last of a transfer gets what rounding leaves over.
std::vector<Portion> portions_of(std::vector<Segment> const& segments, TransferSet const& set) {
  std::vector<Portion> portions;
  std::vector<Bytes> done(set.transfers.size(), Bytes(0));
  std::vector<std::size_t> last(set.transfers.size());
  for (std::size_t k = 0; k < segments.size(); ++k) {
    auto const& segment = segments[k];
    auto& offset = done[segment.transfer];
    auto const bytes = std::min(round_to_alignment(segment.bytes), set.transfers[segment.transfer].bytes - offset);
    portions.push_back({segment.transfer, segment.option, offset, bytes});
    offset += bytes;
    last[segment.transfer] = k;
  }
  for (std::size_t i = 0; i < done.size(); ++i) portions[last[i]].bytes += set.transfers[i].bytes - done[i];
  return portions;
}

// Whether two steps use the same engine, or together exceed a capacity at the rates that they have alone.
bool contend(StepDemand const& one, double rate, StepDemand const& other, double other_rate, Model const& model) {
  auto const is_exceeded = [&](Use const& use) {
    return std::any_of(other.uses.begin(), other.uses.end(), [&](Use const& of_other) {
      auto const wanted = use.weight.ratio() * rate + of_other.weight.ratio() * other_rate;
      return of_other.resource == use.resource &&
             wanted > kSearchLimits.uncontended_utilisation * model.capacity(use.resource)->value();
    });
  };
  return share_an_engine(one, other) || std::any_of(one.uses.begin(), one.uses.end(), is_exceeded);
}

// Adds the order-only dependencies of a schedule, without those that follow from others. Steps are looked at latest
// first, so that one that others wait for already needs no dependency of its own.
template <class MustWait>
void add_schedule_order(std::vector<Step>& steps, std::vector<Segment> const& segments, MustWait const& must_wait) {
  std::vector<std::size_t> latest_first(segments.size());
  std::iota(latest_first.begin(), latest_first.end(), std::size_t{0});
  std::stable_sort(latest_first.begin(), latest_first.end(),
                   [&](std::size_t one, std::size_t other) { return segments[one].last > segments[other].last; });
  std::vector<std::vector<bool>> predecessors(segments.size());  // of each step, direct and indirect
  for (std::size_t k = 0; k < segments.size(); ++k) {
    predecessors[k].assign(segments.size(), false);
    for (auto const other : latest_first) {
      if (segments[other].last >= segments[k].first || predecessors[k][other] || !must_wait(k, other)) continue;
      steps[k].order_only.push_back(StepId(other));
      std::transform(predecessors[k].begin(), predecessors[k].end(), predecessors[other].begin(),
                     predecessors[k].begin(), std::logical_or<>());
      predecessors[k][other] = true;
    }
  }
}

}  // namespace

void drop_small(std::vector<Segment>& segments, TransferSet const& set, Model const& model) {
  std::vector<Segment*> largest(set.transfers.size(), nullptr);
  for (auto& segment : segments)
    if (auto*& most = largest[segment.transfer]; most == nullptr || segment.bytes > most->bytes) most = &segment;
  for (auto& segment : segments) {
    auto const& transfer = set.transfers[segment.transfer];
    auto* const most = largest[segment.transfer];
    if (&segment == most || is_worth_its_start(model, transfer, transfer.options[segment.option], segment.bytes))
      continue;
    most->bytes += segment.bytes;
    segment.bytes = 0;
  }
  std::erase_if(segments, [](Segment const& segment) { return round_to_alignment(segment.bytes) <= Bytes(0); });
}

std::vector<Segment> segments_of(Schedule const& schedule, TransferSet const& set, Model const& model) {
  std::vector<Segment> segments;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> latest;  // of a transfer and option
  for (std::size_t slice = 0; slice < schedule.slices.size(); ++slice)
    for (auto const& moving : schedule.slices[slice].moving) {
      auto const [known, is_new] = latest.try_emplace({moving.transfer, moving.option}, segments.size());
      if (is_new || segments[known->second].last + 1 < slice) {
        known->second = segments.size();
        segments.push_back({moving.transfer, moving.option, slice, slice, 0});
      }
      auto& segment = segments[known->second];
      segment.last = slice;
      segment.bytes += moving.bytes;
    }
  drop_small(segments, set, model);
  return segments;
}

bool all_move(std::vector<Segment> const& segments, TransferSet const& set) {
  std::vector<bool> moves(set.transfers.size(), false);
  for (auto const& segment : segments) moves[segment.transfer] = true;
  return std::find(moves.begin(), moves.end(), false) == moves.end();
}

Evaluation evaluate_segments(std::vector<Segment> const& segments, TransferSet const& set, Model const& model) {
  auto evaluation = steps_of_portions(set, model, portions_of(segments, set));
  auto const demands = demands_of(model, evaluation.steps);
  std::vector<double> rates;  // alone
  for (auto const& segment : segments)
    rates.push_back(set.transfers[segment.transfer].options[segment.option].rate.value());
  add_schedule_order(evaluation.steps, segments, [&](std::size_t one, std::size_t other) {
    // Segments of one transfer on one option together have the rate of one.
    return (segments[one].transfer == segments[other].transfer && segments[one].option == segments[other].option) ||
           contend(demands[one], rates[one], demands[other], rates[other], model);
  });
  evaluation.run = estimate(model, evaluation.steps, demands);
  return evaluation;
}

}  // namespace lanewise
