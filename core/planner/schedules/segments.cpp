#include "core/planner/schedules/segments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/estimate/schedule.hpp"
#include "core/planner/search_limits.hpp"
#include "core/units/bits.hpp"

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

SegmentEvaluator::SegmentEvaluator(TransferSet const& set, Model const& model)
    : set_(set),
      model_(model),
      first_flow_(first_options(set)),
      contending_(first_flow_.back(), Bits(words_for(first_flow_.back()), 0)) {
  add_contending();
}

// Flows contend that are one and the same, use the same engine, or together exceed a capacity at the rates that they
// have alone.
void SegmentEvaluator::add_contending() {
  std::vector<TransferOption const*> options;
  for (auto const& transfer : set_.transfers)
    for (auto const& option : transfer.options) options.push_back(&option);
  std::vector<double> wanted(model_.resources().count(), 0);  // by one flow
  for (std::size_t one = 0; one < options.size(); ++one) {
    auto const& demand = options[one]->demand;
    auto const rate_on = [](Use const& use, TransferOption const& option) {
      return use.weight.ratio() * option.rate.value();
    };
    for (auto const& use : demand.uses) wanted[index(use.resource)] = rate_on(use, *options[one]);
    for (auto other = one; other < options.size(); ++other) {
      auto const& of_other = options[other]->demand;
      bool const is_exceeded = std::any_of(of_other.uses.begin(), of_other.uses.end(), [&](Use const& use) {
        auto const by_one = wanted[index(use.resource)];
        return by_one > 0 && by_one + rate_on(use, *options[other]) >
                                 kSearchLimits.uncontended_utilisation * model_.capacity(use.resource)->value();
      });
      if (one != other && !is_exceeded && !share_an_engine(StepDemand(demand), StepDemand(of_other))) continue;
      set_bit(contending_[one], other);
      set_bit(contending_[other], one);
    }
    for (auto const& use : demand.uses) wanted[index(use.resource)] = 0;
  }
}

// Adds the order-only dependencies of a schedule, without those that follow from others. Steps are looked at latest
// first, so that one that others wait for already needs no dependency of its own.
void SegmentEvaluator::add_order(std::vector<Step>& steps, std::vector<Segment> const& segments) const {
  std::vector<std::size_t> latest_first(segments.size());
  std::iota(latest_first.begin(), latest_first.end(), std::size_t{0});
  std::stable_sort(latest_first.begin(), latest_first.end(),
                   [&](std::size_t one, std::size_t other) { return segments[one].last > segments[other].last; });
  std::vector<Bits> predecessors(segments.size(), Bits(words_for(segments.size()), 0));  // direct and indirect
  for (std::size_t k = 0; k < segments.size(); ++k) {
    auto const& contending = contending_[flow_of(segments[k])];
    for (auto const other : latest_first) {
      if (segments[other].last >= segments[k].first || has_bit(predecessors[k], other) ||
          !has_bit(contending, flow_of(segments[other])))
        continue;
      steps[k].order_only.push_back(StepId(other));
      std::transform(predecessors[k].begin(), predecessors[k].end(), predecessors[other].begin(),
                     predecessors[k].begin(), std::bit_or<>());
      set_bit(predecessors[k], other);
    }
  }
}

Evaluation SegmentEvaluator::evaluate(std::vector<Segment> const& segments) const {
  auto evaluation = steps_of_portions(set_, model_, portions_of(segments, set_));
  add_order(evaluation.steps, segments);
  evaluation.run = estimate(model_, evaluation.steps, demands_of(model_, evaluation.steps));
  return evaluation;
}

}  // namespace lanewise
