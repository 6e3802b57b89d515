#pragma once
// Prediction intervals: the range that holds 90 % of measurements of a predicted figure.
//
//   Intervals const intervals(model);
//   auto const range = intervals.of([&](Model const& m) { return m.cost(m.lower(from, to, bytes, op, way),
//   bytes)->time.value(); });
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lanewise/model/model.hpp"

namespace lanewise {

// A range in the unit of its figure.
struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool holds(double value) const { return value >= low && value <= high; }
  friend bool operator==(Interval const&, Interval const&) = default;
};

// Moves one parameter after another to both ends of its range. The resulting changes of a figure add up like
// independent relative errors: the root of the sum of squared logarithms (Gaussian error propagation), with the
// run-to-run spread of a measurement as one more term.
class Intervals {
 public:
  using Figure = std::function<double(Model const&)>;

  explicit Intervals(Model model) : model_(std::move(model)), ends_(2 * kParameterCount) {}

  [[nodiscard]] Interval of(Figure const& figure) const;
  // Several figures that one computation gives, such as a run; the intervals have their order.
  using Figures = std::function<std::vector<double>(Model const&)>;
  [[nodiscard]] std::vector<Interval> of_each(Figures const& figures, std::span<Parameter const> parameters) const;
  // The same where the figures of the unmoved model are known already. `ends`: Further moves a parameter to the end of
  // its range that lies further away, by its logarithm, and takes the change at the nearer end to be the opposite one,
  // smaller as that end is nearer: half the work.
  enum class Ends : std::uint8_t { Both, Further };
  [[nodiscard]] std::vector<Interval> of_each(std::vector<double> const& middle, Figures const& figures,
                                              std::span<Parameter const> parameters, Ends ends = Ends::Both) const;
  // Moves only these parameters: for figures that are expensive to compute and depend on few parameters.
  [[nodiscard]] Interval of(Figure const& figure, std::span<Parameter const> parameters) const;

 private:
  [[nodiscard]] Model const& end(Parameter parameter, bool high) const;

  Model model_;
  mutable std::vector<std::optional<Model>> ends_;  // made on first use
};

}  // namespace lanewise
