#pragma once
// What an expectation demands of a figure: ">= 40 GB/s", "24 GB/s .. 27 GB/s", "<= 2 %", ">= 1.8 x acs-off",
// "= 50 GB/s +- 5 %".
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/units/dimension.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

// A closed interval of allowed values, absolute or as a multiple of another figure.
struct Threshold {
  std::string text;                // as written
  std::optional<double> at_least;  // bytes per second, seconds, or a ratio
  std::optional<double> at_most;
  std::string relative_to;  // "VARIANT", "TRANSFER" or "VARIANT/TRANSFER"; empty: absolute
  friend bool operator==(Threshold const&, Threshold const&) = default;

  // Whether `value` is inside; `reference` is the other figure of a relative threshold.
  [[nodiscard]] bool holds(double value, double reference = 1) const;
  // Whether some value from `low` to `high` is inside; of a relative threshold these are multiples of the other figure.
  [[nodiscard]] bool holds_between(double low, double high) const;
};

// `dimension` decides which units are allowed.
Parsed<Threshold> parse_threshold(std::string_view text, Dimension figure);

}  // namespace lanewise
