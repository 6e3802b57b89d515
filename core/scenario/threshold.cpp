#include "lanewise/scenario/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Simulated times are exact to a nanosecond, so a threshold that is met exactly must not fail because of the last
// digit.
constexpr double kRounding = 1e-9;
constexpr double kAboutEqual = 0.01;  // what "=" allows when no "+-" follows

Parsed<double> parse_value(std::string_view text, Dimension figure) {
  switch (figure) {
    case Dimension::Rate: {
      auto const rate = parse_rate(text);
      return {rate.value ? std::optional(rate.value->value()) : std::nullopt, rate.problem};
    }
    case Dimension::Time: {
      auto const time = parse_seconds(text);
      return {time.value ? std::optional(time.value->value()) : std::nullopt, time.problem};
    }
    case Dimension::Ratio: return parse_ratio(text);
  }
  return {};
}

// "1.8 x acs-off": a factor and the figure that it multiplies.
std::optional<std::pair<double, std::string>> parse_relative(std::string_view text) {
  double factor = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || !(factor > 0) || !std::isfinite(factor)) return std::nullopt;
  auto rest = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  if (!rest.starts_with("x ")) return std::nullopt;
  rest = trimmed(rest.substr(2));
  if (rest.empty()) return std::nullopt;
  return std::pair(factor, std::string(rest));
}

Parsed<Threshold> refused(std::string_view text, std::string const& why) {
  return {{},
          fmt::format("'{}' is not an expectation: {}; write '>= 40 GB/s', '24 GB/s .. 27 GB/s', '<= 2 %', '= 50 GB/s "
                      "+- 5 %' or '>= 1.8 x VARIANT'",
                      text, why)};
}

enum class Relation : std::uint8_t { AtLeast, AtMost, Equal };

Parsed<Threshold> parse_related(std::string_view text, std::string_view rest, Relation relation, Dimension figure) {
  double tolerance = kAboutEqual;
  if (auto const plus_minus = rest.find("+-"); plus_minus != std::string_view::npos) {
    if (relation != Relation::Equal) return refused(text, "'+-' goes with '='");
    auto const share = parse_ratio(trimmed(rest.substr(plus_minus + 2)));
    if (!share.value) return refused(text, share.problem);
    tolerance = *share.value;
    rest = trimmed(rest.substr(0, plus_minus));
  }
  Threshold bound;
  bound.text = text;
  double value = 0;
  if (auto const relative = parse_relative(rest)) {
    value = relative->first;
    bound.relative_to = relative->second;
  } else {
    auto const parsed = parse_value(rest, figure);
    if (!parsed.value) return refused(text, parsed.problem);
    value = *parsed.value;
  }
  if (relation != Relation::AtMost) bound.at_least = relation == Relation::Equal ? value * (1 - tolerance) : value;
  if (relation != Relation::AtLeast) bound.at_most = relation == Relation::Equal ? value * (1 + tolerance) : value;
  return {bound, {}};
}

}  // namespace

bool Threshold::holds(double value, double reference) const {
  return holds_between(value / reference, value / reference);
}

bool Threshold::holds_between(double low, double high) const {
  if (at_least && high < *at_least * (1 - kRounding)) return false;
  return !(at_most && low > *at_most * (1 + kRounding));
}

Parsed<Threshold> parse_threshold(std::string_view text, Dimension figure) {
  auto const rest = trimmed(text);
  if (rest.starts_with(">=")) return parse_related(text, trimmed(rest.substr(2)), Relation::AtLeast, figure);
  if (rest.starts_with("<=")) return parse_related(text, trimmed(rest.substr(2)), Relation::AtMost, figure);
  if (rest.starts_with("=")) return parse_related(text, trimmed(rest.substr(1)), Relation::Equal, figure);
  if (auto const dots = rest.find(" .. "); dots != std::string_view::npos) {
    auto const low = parse_value(trimmed(rest.substr(0, dots)), figure);
    auto const high = parse_value(trimmed(rest.substr(dots + 4)), figure);
    if (!low.value) return refused(text, low.problem);
    if (!high.value) return refused(text, high.problem);
    if (*low.value > *high.value) return refused(text, "the range is empty");
    return {Threshold{std::string(text), low.value, high.value, {}}, {}};
  }
  return refused(text, "it begins with none of >=, <=, =, and holds no '..'");
}

}  // namespace lanewise
