#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>

namespace lanewise {

// "12.3 %" of 0.123; "-" where there is nothing to compare with (not a number), and "> 1000000 %" beyond that.
inline std::string percent_text(double share, int digits = 1) {
  constexpr double kMaxShare = 1e4;
  if (std::isnan(share)) return "-";
  if (std::abs(share) > kMaxShare)
    return fmt::format("{} {:.0f} %", share > 0 ? ">" : "<", std::copysign(100 * kMaxShare, share));
  return fmt::format("{:.{}f} %", share * 100, digits);
}

// The same of a difference, with its sign: "+12 %".
inline std::string difference_text(double share, int digits = 0) {
  auto text = percent_text(share, digits);
  return share >= 0 && text.front() != '>' ? "+" + text : text;
}

}  // namespace lanewise
