#pragma once
// The test pattern of a buffer: 64-bit words computed from a seed and their index, so that a byte in the wrong place is
// a wrong byte. The same functions fill, check on the device, and give the expected byte.
#include <cstdint>

#ifdef __CUDACC__
#define LANEWISE_ON_BOTH __host__ __device__
#else
#define LANEWISE_ON_BOTH
#endif

namespace lanewise::hw {

// Source: SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
LANEWISE_ON_BOTH constexpr std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t index) {
  auto z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

LANEWISE_ON_BOTH constexpr std::uint8_t byte_of(std::uint64_t word, std::uint64_t offset) {
  return static_cast<std::uint8_t>(word >> (8 * (offset % 8)));
}

LANEWISE_ON_BOTH constexpr std::uint8_t pattern_byte(std::uint64_t seed, std::uint64_t offset) {
  return byte_of(pattern_word(seed, offset / 8), offset);
}

// The seed of a step of a plan or of a participant of a collective, made of its number, so that no two have the same
// bytes.
LANEWISE_ON_BOTH constexpr std::uint64_t seed_of(std::uint64_t number) {
  return 0x6c616e6577697365ULL + number * 0x10001ULL;
}

// The sum, in 32-bit elements, of the patterns of participants [first, first + count), from their word `word` on.
struct Contribution {
  std::uint64_t word = 0;
  std::uint64_t first = 0, count = 1;
};

LANEWISE_ON_BOTH constexpr std::uint64_t contributed_word(Contribution const& contribution, std::uint64_t index) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (auto who = contribution.first; who < contribution.first + contribution.count; ++who) {
    auto const word = pattern_word(seed_of(who), contribution.word + index);
    low += word & 0xffffffffULL;
    high += word >> 32;
  }
  return (high << 32) | (low & 0xffffffffULL);
}

}  // namespace lanewise::hw
