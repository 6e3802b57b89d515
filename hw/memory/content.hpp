#pragma once
// What the buffers of a collective hold: what they hold before a run, whether they hold the result after it, and the
// sum that a core makes on the way.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hw/memory/mismatch.hpp"

namespace lanewise::hw {

// What a range of a buffer holds: hw/program/contents.hpp.
struct MemoryContent {
  std::int64_t at = 0, bytes = 0;
  std::int64_t from = 0;  // byte of the participants' patterns
  std::uint64_t first = 0, count = 1;
  friend bool operator==(MemoryContent const&, MemoryContent const&) = default;
};

// Each works on the range of a buffer in host memory that the content names. The offset of a mismatch is of the buffer.
void fill(std::byte* buffer, MemoryContent const& content);
std::optional<Mismatch> mismatch(std::byte const* buffer, MemoryContent const& content);

// Adds 32-bit elements, which wrap around. `bytes` is a multiple of four; the addresses need no alignment.
void add_elements(std::byte* target, std::byte const* source, std::size_t bytes);

}  // namespace lanewise::hw
