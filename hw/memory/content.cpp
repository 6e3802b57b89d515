#include "hw/memory/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "hw/memory/pattern.hpp"

namespace lanewise::hw {
namespace {

constexpr std::int64_t kPatternWord = sizeof(std::uint64_t);

// Byte `at` of a content, from 0.
std::uint8_t byte_at(MemoryContent const& content, std::int64_t at) {
  auto const from = static_cast<std::uint64_t>(content.from + at);
  return byte_of(contributed_word({0, content.first, content.count}, from / kPatternWord), from);
}

// Calls with the place in the buffer, the bytes expected there and how many they are: whole words of the pattern, and
// at the ends of a content parts of one.
template <class See>
void for_each_piece(MemoryContent const& content, See const& see) {
  for (std::int64_t at = 0; at < content.bytes;) {
    auto const from = content.from + at;
    auto const count = std::min(kPatternWord - from % kPatternWord, content.bytes - at);
    std::array<std::uint8_t, kPatternWord> expected{};
    if (count == kPatternWord) {
      auto const word =
          contributed_word({0, content.first, content.count}, static_cast<std::uint64_t>(from / kPatternWord));
      std::memcpy(expected.data(), &word, kPatternWord);
    } else {
      for (std::int64_t i = 0; i < count; ++i) expected[static_cast<std::size_t>(i)] = byte_at(content, at + i);
    }
    if (!see(content.at + at, expected.data(), static_cast<std::size_t>(count))) return;
    at += count;
  }
}

}  // namespace

void fill(std::byte* buffer, MemoryContent const& content) {
  for_each_piece(content, [&](std::int64_t at, std::uint8_t const* expected, std::size_t count) {
    std::memcpy(buffer + at, expected, count);
    return true;
  });
}

std::optional<Mismatch> mismatch(std::byte const* buffer, MemoryContent const& content) {
  std::optional<Mismatch> found;
  for_each_piece(content, [&](std::int64_t at, std::uint8_t const* expected, std::size_t count) {
    if (std::memcmp(buffer + at, expected, count) == 0) return true;
    for (std::size_t i = 0; i < count && !found; ++i)
      if (auto const got = static_cast<std::uint8_t>(buffer[at + static_cast<std::int64_t>(i)]); got != expected[i])
        found = Mismatch{static_cast<std::uint64_t>(at) + i, expected[i], got};
    return false;
  });
  return found;
}

void add_elements(std::byte* target, std::byte const* source, std::size_t bytes) {
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t sum = 0;
    std::uint32_t more = 0;
    std::memcpy(&sum, target + at, sizeof sum);
    std::memcpy(&more, source + at, sizeof more);
    sum += more;
    std::memcpy(target + at, &sum, sizeof sum);
  }
}

}  // namespace lanewise::hw
