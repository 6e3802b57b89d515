#pragma once
// The buffers of a collective in host memory: what they hold before a run, whether they hold the result after it, and
// the sum that a core makes on the way.
#include <cstddef>
#include <optional>

#include "hw/memory/mismatch.hpp"
#include "hw/verbs/network_plan.hpp"

namespace lanewise::hw {

// Each works on the range of the buffer that the content names. The offset of a mismatch is of the buffer.
void fill(std::byte* buffer, NetworkContent const& content);
std::optional<Mismatch> mismatch(std::byte const* buffer, NetworkContent const& content);

// Adds 32-bit elements, which wrap around. `bytes` is a multiple of four; the addresses need no alignment.
void add_elements(std::byte* target, std::byte const* source, std::size_t bytes);

}  // namespace lanewise::hw
