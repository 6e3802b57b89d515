#include "lanewise/model/interval.hpp"

#include <algorithm>
#include <cmath>

namespace lanewise {

Model const& Intervals::end(Parameter parameter, bool high) const {
  auto const i = static_cast<std::size_t>(parameter);
  auto& model = ends_[2 * i + (high ? 1 : 0)];
  if (!model) {
    auto const& range = parameter_ranges()[i];
    model = model_.with_assumptions(Assumptions(parameter, high ? range.high : range.low));
  }
  return *model;
}

Interval Intervals::of(Figure const& figure) const {
  std::array<Parameter, kParameterCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Parameter>(i);
  return of(figure, all);
}

Interval Intervals::of(Figure const& figure, std::span<Parameter const> parameters) const {
  return of_each([&](Model const& model) { return std::vector<double>{figure(model)}; }, parameters).front();
}

std::vector<Interval> Intervals::of_each(Figures const& figures, std::span<Parameter const> parameters) const {
  return of_each(figures(model_), figures, parameters);
}

std::vector<Interval> Intervals::of_each(std::vector<double> const& middle, Figures const& figures,
                                         std::span<Parameter const> parameters, Ends ends) const {
  double const spread = std::log1p(kRunToRunSpread);
  std::vector<double> below(middle.size(), spread * spread);
  auto above = below;
  for (auto const parameter : parameters) {
    std::vector<double> lowest(middle.size(), 0);
    auto highest = lowest;
    auto const& range = parameter_ranges()[static_cast<std::size_t>(parameter)];
    auto const ratio = std::log(range.high) / -std::log(range.low);  // of the distances of both ends
    for (bool const high : {false, true}) {
      if (ends == Ends::Further && high != (ratio >= 1)) continue;
      auto const values = figures(end(parameter, high));
      auto const opposite = ends == Ends::Both ? 0 : -std::min(ratio, 1 / ratio);
      for (std::size_t i = 0; i < middle.size(); ++i) {
        if (!(values[i] > 0) || !(middle[i] > 0)) continue;
        auto const change = std::log(values[i] / middle[i]);
        lowest[i] = std::min({lowest[i], change, change * opposite});
        highest[i] = std::max({highest[i], change, change * opposite});
      }
    }
    for (std::size_t i = 0; i < middle.size(); ++i) {
      below[i] += lowest[i] * lowest[i];
      above[i] += highest[i] * highest[i];
    }
  }
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < middle.size(); ++i)
    intervals.push_back(
        middle[i] > 0 ? Interval{middle[i] * std::exp(-std::sqrt(below[i])), middle[i] * std::exp(std::sqrt(above[i]))}
                      : Interval{middle[i], middle[i]});
  return intervals;
}

}  // namespace lanewise
