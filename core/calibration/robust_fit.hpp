#pragma once
// Robust least squares on the logarithms of positive figures, with weak priors: a parameter that the data do not
// determine stays at its start. An M-estimator with Huber's loss, then Tukey's biweight (Huber 1981; Beaton and Tukey
// 1974), minimised by Levenberg and Marquardt's method. Dense: for tens of parameters and thousands of figures.
#include <cstddef>
#include <functional>
#include <vector>

namespace lanewise {

// A square matrix, stored row by row.
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
// For a symmetric positive definite matrix, by Cholesky decomposition.
std::vector<double> solved(DenseMatrix const& matrix, std::vector<double> right);
DenseMatrix inverse(DenseMatrix const& matrix);

struct FitParameter {
  double start = 0;        // logarithm of the figure in use
  double width = 1;        // standard deviation of the prior
  double upper_limit = 0;  // upper limit of the logarithm
};

struct FitDatum {
  double measured = 0;      // logarithm
  double spread = 0;        // standard deviation of the logarithm over the repetitions
  std::size_t cluster = 0;  // data of a cluster may share an error
};

struct FitProblem {
  std::vector<FitParameter> parameters;
  std::vector<FitDatum> data;
  // The logarithm of every datum's prediction, for these logarithms of the parameters.
  std::function<std::vector<double>(std::vector<double> const&)> predict;
};

struct FitResult {
  std::vector<double> at;                    // logarithms
  std::vector<double> deviation;             // standard deviation of each
  std::vector<double> known;                 // share of the information that comes from the data: 0 none, 1 all
  DenseMatrix covariance{0};                 // from the random errors of the data
  std::vector<double> residuals;             // measured - predicted
  std::vector<double> weights;               // of each datum: 0 for an outlier, 1 at full weight
  std::vector<std::vector<double>> effects;  // [parameter][datum]: d log prediction / d log parameter
  double scale = 0;                          // robust standard deviation of the residuals
};

// Begins at `from`; if empty, at each parameter's start.
FitResult robust_fit(FitProblem const& problem, std::vector<double> from = {});

// d log prediction / d log parameter at `at`, by central differences: [parameter][datum].
std::vector<std::vector<double>> effects_at(FitProblem const& problem, std::vector<double> const& at);

}  // namespace lanewise
