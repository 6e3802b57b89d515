#pragma once
// Bit sets of any size over 64-bit words.
#include <cstddef>
#include <cstdint>
#include <span>

namespace lanewise {

constexpr std::size_t kWordBits = 64;

// The number of words that hold `count` bits.
constexpr std::size_t words_for(std::size_t count) { return (count + kWordBits - 1) / kWordBits; }

constexpr std::uint64_t bit_of(std::size_t at) { return std::uint64_t{1} << (at % kWordBits); }
inline void set_bit(std::span<std::uint64_t> words, std::size_t at) { words[at / kWordBits] |= bit_of(at); }
[[nodiscard]] inline bool has_bit(std::span<std::uint64_t const> words, std::size_t at) {
  return (words[at / kWordBits] & bit_of(at)) != 0;
}

}  // namespace lanewise
