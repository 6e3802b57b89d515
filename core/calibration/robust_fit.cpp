#include "core/calibration/robust_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

// Step of the differences: 1 % to either side, far enough to include changes of the bottleneck.
constexpr double kStep = 0.01;
// Tuning constants for 95 % efficiency with normal errors (Huber 1981; Beaton and Tukey 1974).
constexpr double kHuber = 1.345;
constexpr double kTukey = 4.685;
// Lower limit of the scale: no measurement is more precise, even if its repetitions agree.
constexpr double kFinest = 0.002;
constexpr double kLongestStep = 0.5;
constexpr double kConverged = 1e-4;
constexpr int kMaxRounds = 60;

enum class Loss : std::uint8_t { Huber, Tukey };

double weight_of(Loss loss, double deviation) {
  auto const size = std::abs(deviation);
  if (loss == Loss::Huber) return size <= kHuber ? 1.0 : kHuber / size;
  if (size >= kTukey) return 0;
  auto const inside = 1 - (size / kTukey) * (size / kTukey);
  return inside * inside;
}

double loss_of(Loss loss, double deviation) {
  auto const size = std::abs(deviation);
  if (loss == Loss::Huber) return size <= kHuber ? size * size / 2 : kHuber * (size - kHuber / 2);
  auto const inside = size >= kTukey ? 0 : 1 - (size / kTukey) * (size / kTukey);
  return kTukey * kTukey / 6 * (1 - inside * inside * inside);
}

class Fit {
 public:
  Fit(FitProblem const& problem, std::vector<double> from) : problem_(problem), at_(std::move(from)) {
    if (at_.empty())
      for (auto const& parameter : problem.parameters) at_.push_back(std::min(parameter.start, parameter.upper_limit));
    residuals_ = residuals_at(at_);
  }

  FitResult run() {
    descend(Loss::Huber);
    descend(Loss::Tukey);
    return result();
  }

 private:
  [[nodiscard]] std::vector<double> residuals_at(std::vector<double> const& place) const {
    auto residuals = problem_.predict(place);
    for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] = problem_.data[i].measured - residuals[i];
    return residuals;
  }

  void rescale() {
    std::vector<double> sizes;
    for (auto const residual : residuals_) sizes.push_back(std::abs(residual));
    scale_ = std::max(kFinest, kDeviationOfMedian * median(std::move(sizes)));
  }
  // The expected standard deviation of a datum.
  [[nodiscard]] double expected(std::size_t i) const { return std::hypot(scale_, problem_.data[i].spread); }

  [[nodiscard]] double cost(std::vector<double> const& place, std::vector<double> const& residuals, Loss loss) const {
    double sum = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) sum += loss_of(loss, residuals[i] / expected(i));
    for (std::size_t p = 0; p < place.size(); ++p) {
      auto const& parameter = problem_.parameters[p];
      auto const off = (place[p] - parameter.start) / parameter.width;
      sum += off * off / 2;
    }
    return sum;
  }

  // The left side of the normal equations, without the priors.
  [[nodiscard]] DenseMatrix information(std::vector<double> const& weights) const {
    DenseMatrix sums(at_.size());
    for (std::size_t p = 0; p < at_.size(); ++p)
      for (std::size_t q = 0; q <= p; ++q) {
        double sum = 0;
        for (std::size_t i = 0; i < residuals_.size(); ++i)
          sum += effects_[p][i] * effects_[q][i] * weights[i] / (expected(i) * expected(i));
        sums(p, q) = sums(q, p) = sum;
      }
    return sums;
  }
  void add_priors(DenseMatrix& sums) const {
    for (std::size_t p = 0; p < at_.size(); ++p)
      sums(p, p) += 1 / (problem_.parameters[p].width * problem_.parameters[p].width);
  }

  void descend(Loss loss) {
    double damping = 1e-3;
    for (int step = 0; step < kMaxRounds; ++step) {
      rescale();
      effects_ = effects_at(problem_, at_);
      weights_.assign(residuals_.size(), 0);
      for (std::size_t i = 0; i < residuals_.size(); ++i) weights_[i] = weight_of(loss, residuals_[i] / expected(i));
      if (improve(loss, damping) < kConverged) return;
    }
  }

  // One step of Levenberg and Marquardt's method; returns the largest change of a parameter.
  double improve(Loss loss, double& damping) {
    auto normal = information(weights_);
    add_priors(normal);
    std::vector<double> slope(at_.size(), 0);
    for (std::size_t p = 0; p < at_.size(); ++p) {
      auto const& parameter = problem_.parameters[p];
      slope[p] = -(at_[p] - parameter.start) / (parameter.width * parameter.width);
      for (std::size_t i = 0; i < residuals_.size(); ++i)
        slope[p] += effects_[p][i] * weights_[i] * residuals_[i] / (expected(i) * expected(i));
    }
    auto const before = cost(at_, residuals_, loss);
    for (int attempt = 0; attempt < 12; ++attempt) {
      auto damped = normal;
      for (std::size_t p = 0; p < at_.size(); ++p) damped(p, p) *= 1 + damping;
      auto const move = solved(damped, slope);
      auto place = at_;
      double longest = 0;
      for (std::size_t p = 0; p < place.size(); ++p) {
        place[p] =
            std::min(place[p] + std::clamp(move[p], -kLongestStep, kLongestStep), problem_.parameters[p].upper_limit);
        longest = std::max(longest, std::abs(place[p] - at_[p]));
      }
      auto residuals = residuals_at(place);
      if (cost(place, residuals, loss) <= before) {
        at_ = std::move(place);
        residuals_ = std::move(residuals);
        damping = std::max(1e-9, damping / 8);
        return longest;
      }
      damping *= 6;
    }
    return 0;
  }

  [[nodiscard]] FitResult result() {
    FitResult result;
    effects_ = effects_at(problem_, at_);
    auto information_and_prior = information(weights_);
    add_priors(information_and_prior);
    auto const covariance = inverse(information_and_prior);
    auto const by_cluster = spread_of_clusters(covariance);
    for (std::size_t p = 0; p < at_.size(); ++p) {
      auto const width = problem_.parameters[p].width;
      result.deviation.push_back(std::sqrt(std::max(covariance(p, p), by_cluster[p])));
      result.known.push_back(std::clamp(1 - covariance(p, p) / (width * width), 0.0, 1.0));
    }
    result.at = at_;
    result.covariance = covariance;
    result.residuals = residuals_;
    result.weights = weights_;
    result.effects = effects_;
    result.scale = scale_;
    return result;
  }

  // The variance of each parameter if the data of a cluster share their errors (the sandwich of Huber and White).
  [[nodiscard]] std::vector<double> spread_of_clusters(DenseMatrix const& covariance) const {
    std::map<std::size_t, std::vector<double>> slopes;
    for (std::size_t i = 0; i < residuals_.size(); ++i) {
      auto& slope = slopes[problem_.data[i].cluster];
      slope.resize(at_.size(), 0.0);
      for (std::size_t p = 0; p < at_.size(); ++p)
        slope[p] += effects_[p][i] * weights_[i] * residuals_[i] / (expected(i) * expected(i));
    }
    std::vector<double> variance(at_.size(), 0);
    for (auto const& [unused, slope] : slopes)
      for (std::size_t p = 0; p < at_.size(); ++p) {
        double pull = 0;
        for (std::size_t q = 0; q < at_.size(); ++q) pull += covariance(p, q) * slope[q];
        variance[p] += pull * pull;
      }
    return variance;
  }

  FitProblem const& problem_;
  std::vector<double> at_;
  std::vector<double> residuals_;
  std::vector<double> weights_;
  std::vector<std::vector<double>> effects_;
  double scale_ = 1;
};

// The lower triangular matrix L with L L^T = `matrix`.
DenseMatrix cholesky(DenseMatrix const& matrix) {
  DenseMatrix lower(matrix.size());
  for (std::size_t row = 0; row < matrix.size(); ++row)
    for (std::size_t column = 0; column <= row; ++column) {
      double sum = matrix(row, column);
      for (std::size_t k = 0; k < column; ++k) sum -= lower(row, k) * lower(column, k);
      lower(row, column) = row == column ? std::sqrt(std::max(sum, 1e-300)) : sum / lower(column, column);
    }
  return lower;
}

std::vector<double> solved_with(DenseMatrix const& lower, std::vector<double> right) {
  auto const size = lower.size();
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t k = 0; k < row; ++k) right[row] -= lower(row, k) * right[k];
    right[row] /= lower(row, row);
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t k = row + 1; k < size; ++k) right[row] -= lower(k, row) * right[k];
    right[row] /= lower(row, row);
  }
  return right;
}

}  // namespace

std::vector<double> solved(DenseMatrix const& matrix, std::vector<double> right) {
  return solved_with(cholesky(matrix), std::move(right));
}

DenseMatrix inverse(DenseMatrix const& matrix) {
  auto const lower = cholesky(matrix);
  DenseMatrix result(matrix.size());
  for (std::size_t column = 0; column < matrix.size(); ++column) {
    std::vector<double> unit(matrix.size(), 0);
    unit[column] = 1;
    auto const solution = solved_with(lower, std::move(unit));
    for (std::size_t row = 0; row < matrix.size(); ++row) result(row, column) = solution[row];
  }
  return result;
}

std::vector<std::vector<double>> effects_at(FitProblem const& problem, std::vector<double> const& at) {
  std::vector<std::vector<double>> effects;
  for (std::size_t p = 0; p < at.size(); ++p) {
    auto place = at;
    place[p] = std::min(at[p] + kStep, problem.parameters[p].upper_limit);
    auto const high = place[p];
    auto effect = problem.predict(place);
    place[p] = at[p] - kStep;
    auto const low = problem.predict(place);
    for (std::size_t i = 0; i < effect.size(); ++i) effect[i] = (effect[i] - low[i]) / (high - place[p]);
    effects.push_back(std::move(effect));
  }
  return effects;
}

FitResult robust_fit(FitProblem const& problem, std::vector<double> from) {
  return Fit(problem, std::move(from)).run();
}

}  // namespace lanewise
