#include "lanewise/units/rank_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

// Above this the normal distribution of the rank sum is right to three digits of the rank.
constexpr std::size_t kMaxExactSample = 60;

// The means of all pairs, ascending, each value with itself included.
std::vector<double> walsh_averages(std::vector<double> const& sample) {
  std::vector<double> averages;
  averages.reserve(sample.size() * (sample.size() + 1) / 2);
  for (std::size_t i = 0; i < sample.size(); ++i)
    for (std::size_t k = i; k < sample.size(); ++k) averages.push_back((sample[i] + sample[k]) / 2);
  std::sort(averages.begin(), averages.end());
  return averages;
}

// The largest t for which a sum of positive ranks of at most t has the probability `tail`; nullopt where even a sum of
// 0 is likelier.
std::optional<std::size_t> exact_rank_sum(std::size_t count, double tail) {
  auto const largest = count * (count + 1) / 2;
  std::vector<double> probability(largest + 1, 0.0);  // of each rank sum
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= count; ++rank)
    for (std::size_t sum = largest + 1; sum-- > 0;)
      probability[sum] = probability[sum] / 2 + (sum >= rank ? probability[sum - rank] / 2 : 0);
  std::optional<std::size_t> found;
  double cumulated = 0;
  for (std::size_t sum = 0; sum <= largest; ++sum) {
    cumulated += probability[sum];
    if (cumulated > tail) break;
    found = sum;
  }
  return found;
}

// The normal quantile below which `tail` of the distribution lies, by bisection of erfc.
double normal_quantile(double tail) {
  double low = -40;
  double high = 0;
  for (int i = 0; i < 100; ++i) {
    auto const middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < tail ? low : high) = middle;
  }
  return low;
}

std::optional<std::size_t> normal_rank_sum(std::size_t count, double tail) {
  auto const n = static_cast<double>(count);
  auto const mean = n * (n + 1) / 4;
  auto const deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  auto const sum = std::floor(mean + normal_quantile(tail) * deviation - 0.5);
  if (sum < 0) return std::nullopt;
  return static_cast<std::size_t>(sum);
}

}  // namespace

bool ConfidenceInterval::is_bounded() const { return std::isfinite(low) && std::isfinite(high); }

ConfidenceInterval median_interval(std::vector<double> sample, double error_level) {
  std::sort(sample.begin(), sample.end());
  auto const n = static_cast<double>(sample.size());
  double tail = 0;  // the probability that at most `below` values lie below the median
  ConfidenceInterval interval;
  for (std::size_t below = 0; 2 * below < sample.size(); ++below) {
    auto const k = static_cast<double>(below);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
    if (2 * tail > error_level) break;
    interval = {sample[below], sample[sample.size() - 1 - below]};
  }
  return interval;
}

double pseudo_median(std::vector<double> const& sample) { return median(walsh_averages(sample)); }

ConfidenceInterval signed_rank_interval(std::vector<double> const& sample, double error_level) {
  auto const sum = sample.size() <= kMaxExactSample ? exact_rank_sum(sample.size(), error_level / 2)
                                                    : normal_rank_sum(sample.size(), error_level / 2);
  if (sample.empty() || !sum) return {};
  auto const averages = walsh_averages(sample);
  return {averages[*sum], averages[averages.size() - 1 - *sum]};
}

std::size_t min_signed_rank_sample(double error_level) {
  return static_cast<std::size_t>(std::ceil(1 - std::log2(error_level)));
}

}  // namespace lanewise
