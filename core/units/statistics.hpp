#pragma once
// Order statistics of a sample of measurements.
#include <algorithm>
#include <vector>

namespace lanewise {

// Standard deviation over median absolute deviation, for a normal distribution.
inline constexpr double kDeviationOfMedian = 1.4826;

// The quantile at `share` (0 to 1), by linear interpolation between the two nearest ranks (Hyndman and Fan 1996, type
// 7). The sample must not be empty.
inline double quantile(std::vector<double> sample, double share) {
  std::sort(sample.begin(), sample.end());
  auto const at = share * static_cast<double>(sample.size() - 1);
  auto const low = static_cast<std::size_t>(at);
  auto const high = std::min(low + 1, sample.size() - 1);
  return sample[low] + (sample[high] - sample[low]) * (at - static_cast<double>(low));
}

// The sample must not be empty.
inline double median(std::vector<double> sample) { return quantile(std::move(sample), 0.5); }

// From the 5th to the 95th percentile, over the median; 0 when the median is not positive.
inline double relative_spread(std::vector<double> const& sample) {
  auto const middle = median(sample);
  return middle > 0 ? (quantile(sample, 0.95) - quantile(sample, 0.05)) / middle : 0;
}

}  // namespace lanewise
