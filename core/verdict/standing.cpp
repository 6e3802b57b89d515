#include "lanewise/verdict/standing.hpp"

#include <array>

namespace lanewise {

std::string_view to_string(Standing standing) {
  static constexpr std::array<std::string_view, 4> kWords{"better", "same", "within noise", "worse"};
  return kWords.at(static_cast<std::size_t>(standing));
}

Standing standing_of(TimeRatio const& ratio) {
  if (ratio.interval.low > 1) return Standing::Better;
  if (ratio.interval.low >= 1 - kSameTime) return Standing::Same;
  if (ratio.interval.high < 1) return Standing::Worse;
  return Standing::WithinNoise;
}

Standing standing_of(TimeRatio const& makespan, std::optional<TimeRatio> const& own_end) {
  auto const overall = standing_of(makespan);
  if (!own_end || overall == Standing::Better || overall == Standing::Worse) return overall;
  auto const own = standing_of(*own_end);
  if (own != Standing::Worse) return own;
  if (makespan.value <= 1 + kSameTime) return Standing::Worse;
  return overall;
}

}  // namespace lanewise
