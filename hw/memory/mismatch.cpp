#include "hw/memory/mismatch.hpp"

#include <fmt/format.h>

namespace lanewise::hw {

std::string text_of(Mismatch const& mismatch) {
  return fmt::format("the byte at offset {} is 0x{:02x} instead of 0x{:02x}", mismatch.offset, mismatch.got,
                     mismatch.expected);
}

}  // namespace lanewise::hw
