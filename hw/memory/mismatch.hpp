#pragma once
#include <cstdint>
#include <string>

namespace lanewise::hw {

// The first byte that differs from what was sent.
struct Mismatch {
  std::uint64_t offset = 0;
  std::uint8_t expected = 0;
  std::uint8_t got = 0;
};
std::string text_of(Mismatch const& mismatch);

}  // namespace lanewise::hw
