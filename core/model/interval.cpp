#include "core/model/interval.hpp"

#include <algorithm>
#include <cmath>

namespace lanewise {

Model const& Intervals::end(Parameter parameter, bool high) const {
  auto const i = static_cast<std::size_t>(parameter);
  auto& model = ends_[2 * i + (high ? 1 : 0)];
  if (!model) {
    auto const& range = parameter_ranges()[i];
    model = model_.under(Assumptions(parameter, high ? range.high : range.low));
  }
  return *model;
}

Interval Intervals::of(Figure const& figure) const {
  std::array<Parameter, kParameterCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Parameter>(i);
  return of(figure, all);
}

Interval Intervals::of(Figure const& figure, std::span<Parameter const> parameters) const {
  auto const middle = figure(model_);
  if (!(middle > 0)) return {middle, middle};
  double const spread = std::log1p(kRunToRun);
  double below = spread * spread;
  double above = below;
  for (auto const parameter : parameters) {
    double lowest = 0;
    double highest = 0;
    for (bool const high : {false, true}) {
      auto const value = figure(end(parameter, high));
      if (!(value > 0)) continue;
      auto const change = std::log(value / middle);
      lowest = std::min(lowest, change);
      highest = std::max(highest, change);
    }
    below += lowest * lowest;
    above += highest * highest;
  }
  return {middle * std::exp(-std::sqrt(below)), middle * std::exp(std::sqrt(above))};
}

}  // namespace lanewise
