#pragma once
// How far a predicted figure may be off: the range that holds nine measurements out of ten.
//
//   Intervals const intervals(model);
//   auto const range = intervals.of([&](Model const& m) { return m.cost(m.lower(from, to, bytes, op, way),
//   bytes)->time.value(); });
#include <functional>
#include <span>
#include <vector>

#include "core/model/model.hpp"

namespace lanewise {

// In the unit of the figure.
struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool holds(double value) const { return value >= low && value <= high; }
  friend bool operator==(Interval const&, Interval const&) = default;
};

// The model with one parameter after another at the two ends of its range. What each end does to a figure adds up as
// independent errors do: by squares, of the logarithms, since errors are shares of a figure; with the spread between
// runs of one measurement.
class Intervals {
 public:
  using Figure = std::function<double(Model const&)>;

  explicit Intervals(Model model) : model_(std::move(model)), ends_(2 * kParameterCount) {}

  [[nodiscard]] Interval of(Figure const& figure) const;
  // Several figures that come together, as of one run; in their order.
  using Figures = std::function<std::vector<double>(Model const&)>;
  [[nodiscard]] std::vector<Interval> of_each(Figures const& figures, std::span<Parameter const> parameters) const;
  // Moves only these parameters: for figures that are dear to compute and hang on few of them.
  [[nodiscard]] Interval of(Figure const& figure, std::span<Parameter const> parameters) const;

 private:
  [[nodiscard]] Model const& end(Parameter parameter, bool high) const;

  Model model_;
  mutable std::vector<std::optional<Model>> ends_;  // made when first asked for
};

}  // namespace lanewise
