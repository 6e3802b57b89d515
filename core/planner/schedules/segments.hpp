#pragma once
// The pieces of a schedule: each way's stays at work, and the run in which all keep to what the schedule says.
#include <vector>

#include "core/planner/schedules/configuration_program.hpp"
#include "core/planner/sets/draft.hpp"

namespace lanewise {

// A way of a transfer at work without a pause: from one slice to the end of another.
struct Segment {
  std::size_t transfer = 0;
  std::size_t option = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  double bytes = 0;
};

// In the order in which they begin; none that is not worth its start.
std::vector<Segment> segments_of(Schedule const& schedule, TransferSet const& set, Model const& model);
// Those of a transfer that are not worth their start go to its largest.
void drop_small(std::vector<Segment>& segments, TransferSet const& set, Model const& model);

// Whether every transfer has one.
bool all_move(std::vector<Segment> const& segments, TransferSet const& set);

// A step for each, and how they run. Stays are in the order in which they begin, and every transfer has some. Every
// step waits for all that end before its slice and get in its way, if only by one that waits for them: what runs side
// by side is what the schedule says. Pieces of a transfer on one way have the rate of one.
Evaluation evaluate_segments(std::vector<Segment> const& segments, TransferSet const& set, Model const& model);

}  // namespace lanewise
