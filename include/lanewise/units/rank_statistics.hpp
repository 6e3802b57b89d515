#pragma once
// Confidence intervals from ranks alone: no distribution of the measurements is assumed.
//
//   auto const times = median_interval({10.1, 10.4, 9.9, 10.2, 10.0, 10.3}, 0.05);   // 9.9 to 10.4
#include <cstddef>
#include <limits>
#include <vector>

namespace lanewise {

struct ConfidenceInterval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  // False: the sample is too small for the error level.
  [[nodiscard]] bool is_bounded() const;
  friend bool operator==(ConfidenceInterval const&, ConfidenceInterval const&) = default;
};

// Holds the median of what the sample is drawn from, except in `error_level` of all cases (0.05: a 95 % interval).
// Two of the sample's own values, by the sign test (Hollander, Wolfe and Chicken 2014, section 3.6).
ConfidenceInterval median_interval(std::vector<double> sample, double error_level);

// Hodges and Lehmann's estimate of the centre of a symmetric distribution: the median of the means of all pairs, each
// value with itself included. The sample must not be empty.
double pseudo_median(std::vector<double> const& sample);

// Holds that centre, except in `error_level` of all cases: Tukey's interval, by the distribution of Wilcoxon's signed
// ranks (Hollander, Wolfe and Chicken 2014, sections 3.2 and 3.3), exact up to 60 values and normal above.
ConfidenceInterval signed_rank_interval(std::vector<double> const& sample, double error_level);

// The smallest sample for which signed_rank_interval() is bounded.
std::size_t min_signed_rank_sample(double error_level);

}  // namespace lanewise
