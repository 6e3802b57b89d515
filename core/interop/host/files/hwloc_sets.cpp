#include "core/interop/host/files/hwloc_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace lanewise {

std::vector<int> hwloc_set(std::string_view text) {
  constexpr int kWordBits = 32;
  constexpr std::size_t kMaxWords = 2048;
  std::vector<std::uint32_t> words;  // most significant first
  for (;;) {
    auto word = text.substr(0, text.find(','));
    if (word.starts_with("0x")) word.remove_prefix(2);
    std::uint32_t value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (!word.empty() && (error != std::errc() || end != word.data() + word.size())) return {};
    words.push_back(value);
    if (words.size() > kMaxWords) return {};
    auto const comma = text.find(',');
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::vector<int> numbers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const word = words[words.size() - 1 - i];
    for (int bit = 0; bit < kWordBits; ++bit)
      if ((word >> static_cast<unsigned>(bit) & 1U) != 0) numbers.push_back(static_cast<int>(i) * kWordBits + bit);
  }
  return numbers;
}

std::string ranges_of(std::vector<int> const& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    auto last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace lanewise
