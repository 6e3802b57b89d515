#pragma once
// Figures of a sample of measurements.
#include <algorithm>
#include <vector>

namespace lanewise {

// From a median of absolute deviations to a standard deviation, of what is distributed normally.
inline constexpr double kDeviationOfMedian = 1.4826;

// Between the two nearest ranks, linearly; `share` from 0 to 1. The sample must not be empty.
inline double quantile(std::vector<double> sample, double share) {
  std::sort(sample.begin(), sample.end());
  auto const at = share * static_cast<double>(sample.size() - 1);
  auto const low = static_cast<std::size_t>(at);
  auto const high = std::min(low + 1, sample.size() - 1);
  return sample[low] + (sample[high] - sample[low]) * (at - static_cast<double>(low));
}

inline double median(std::vector<double> sample) { return quantile(std::move(sample), 0.5); }

// From the 5th to the 95th of a hundred, as a share of the median.
inline double relative_spread(std::vector<double> const& sample) {
  auto const middle = median(sample);
  return middle > 0 ? (quantile(sample, 0.95) - quantile(sample, 0.05)) / middle : 0;
}

}  // namespace lanewise
