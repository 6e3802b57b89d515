#pragma once
// The segments of a schedule: an option of a transfer at work without a pause (as in preemptive scheduling), and the
// run in which all segments keep to the order of the schedule.
#include <cstdint>
#include <vector>

#include "core/planner/schedules/schedule.hpp"
#include "core/planner/sets/draft.hpp"

namespace lanewise {

struct Segment {
  std::size_t transfer = 0;
  std::size_t option = 0;
  std::size_t first = 0;  // slice
  std::size_t last = 0;   // slice, included
  double bytes = 0;
};

// In the order in which they begin, without those that are not worth their start.
std::vector<Segment> segments_of(Schedule const& schedule, TransferSet const& set, Model const& model);
// Moves the bytes of segments that are not worth their start to the largest segment of their transfer.
void drop_small(std::vector<Segment>& segments, TransferSet const& set, Model const& model);

// Whether every transfer has a segment.
bool all_move(std::vector<Segment> const& segments, TransferSet const& set);

// How segments of one set run.
class SegmentEvaluator {
 public:
  // `set` and `model` must outlive it.
  SegmentEvaluator(TransferSet const& set, Model const& model);

  // One step for each segment, and how they run. The segments must be in the order in which they begin, at least one
  // for each transfer. A step waits (order-only) for every step that ends in an earlier slice and contends with it,
  // directly or through one that it already waits for. So only steps that share a slice run side by side.
  [[nodiscard]] Evaluation evaluate(std::vector<Segment> const& segments) const;

 private:
  using Bits = std::vector<std::uint64_t>;

  [[nodiscard]] std::size_t flow_of(Segment const& segment) const {
    return first_flow_[segment.transfer] + segment.option;
  }
  void add_contending();
  void add_order(std::vector<Step>& steps, std::vector<Segment> const& segments) const;

  TransferSet const& set_;
  Model const& model_;
  std::vector<std::size_t> first_flow_;  // of each transfer: first_options()
  std::vector<Bits> contending_;         // by flow: those that must not run beside it
};

}  // namespace lanewise
