#pragma once
// Enumerators as words of files and command lines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/spelling.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

// The enumerator whose value is the index of the text in `names`, or a sentence that lists the allowed words. `what`
// completes "'x' is not ...", such as "an op".
template <class Enum, std::size_t N>
Parsed<Enum> parse_word(std::string_view text, std::array<std::string_view, N> const& names, std::string_view what) {
  auto const found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return {static_cast<Enum>(found - names.begin()), {}};
  std::vector<std::string> const allowed(names.begin(), names.end());
  return {
      {},
      fmt::format("'{}' is not {}; allowed: {}{}", text, what, fmt::join(names, ", "), did_you_mean(text, allowed))};
}

}  // namespace lanewise
