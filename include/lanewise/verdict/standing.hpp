#pragma once
// How a plan stands against a rival, given how far the ratio of their times is known.
#include <cstdint>
#include <optional>
#include <string_view>

#include "lanewise/units/rank_statistics.hpp"

namespace lanewise {

// A rival's time over the plan's: 0.95 where the rival is 5 % faster.
struct TimeRatio {
  double value = 1;
  ConfidenceInterval interval{1, 1};
  friend bool operator==(TimeRatio const&, TimeRatio const&) = default;
};

// Two times that differ by less are the same: no plan is chosen for so little.
inline constexpr double kSameTime = 0.01;

enum class Standing : std::uint8_t {
  Better,       // the rival is slower
  Same,         // the rival is at most kSameTime faster
  WithinNoise,  // not settled
  Worse         // the rival is faster
};
std::string_view to_string(Standing standing);  // better, same, within noise, worse

Standing standing_of(TimeRatio const& ratio);
// By the makespan; where that does not settle it, by the end of the transfer that was decided: a decision off the
// critical path does not change the makespan. A rival that ends the transfer earlier is no better if it makes the
// makespan longer.
Standing standing_of(TimeRatio const& makespan, std::optional<TimeRatio> const& own_end);

}  // namespace lanewise
