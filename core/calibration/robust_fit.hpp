#pragma once
// Least squares on the logarithms of positive figures, robust against outliers, with weak priors: what the data say
// nothing of stays where it was. Dense and small: tens of parameters, thousands of figures.
#include <cstddef>
#include <functional>
#include <vector>

namespace lanewise {

// Square, row by row.
class DenseMatrix {
 public:
  explicit DenseMatrix(std::size_t size) : size_(size), cells_(size * size, 0.0) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  double& operator()(std::size_t row, std::size_t column) { return cells_[row * size_ + column]; }
  double operator()(std::size_t row, std::size_t column) const { return cells_[row * size_ + column]; }

 private:
  std::size_t size_;
  std::vector<double> cells_;
};
// Of a symmetric positive definite matrix, by Cholesky.
std::vector<double> solved(DenseMatrix const& matrix, std::vector<double> right);
DenseMatrix inverse(DenseMatrix const& matrix);

struct FitParameter {
  double start = 0;        // logarithm of the figure in use
  double width = 1;        // standard deviation of what is usual around it
  double upper_limit = 0;  // its logarithm does not exceed this
};

struct FitDatum {
  double measured = 0;      // logarithm
  double spread = 0;        // standard deviation that its repetitions had
  std::size_t cluster = 0;  // data that may be wrong together
};

struct FitProblem {
  std::vector<FitParameter> parameters;
  std::vector<FitDatum> data;
  // Logarithms of every datum's prediction.
  std::function<std::vector<double>(std::vector<double> const&)> predict;
};

struct FitResult {
  std::vector<double> at;                    // logarithms
  std::vector<double> deviation;             // standard deviation of each
  std::vector<double> known;                 // share that the data say of each: 0 nothing, 1 all
  DenseMatrix covariance{0};                 // of the data's random errors
  std::vector<double> residuals;             // measured less predicted
  std::vector<double> weights;               // of each datum: 0 an outlier, 1 as expected
  std::vector<std::vector<double>> effects;  // [parameter][datum]: d log prediction / d log parameter
  double scale = 0;                          // of an ordinary residual
};

// `from`: where to begin; empty: at the start of each.
FitResult robust_fit(FitProblem const& problem, std::vector<double> from = {});

// d log prediction / d log parameter at a place, by differences: [parameter][datum].
std::vector<std::vector<double>> effects_at(FitProblem const& problem, std::vector<double> const& at);

}  // namespace lanewise
