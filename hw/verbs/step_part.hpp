#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/memory/memory.hpp"

namespace lanewise::hw {

// The two ends of a step over one of its links, as its driver addresses them.
struct LinkEndpoints {
  std::byte* local = nullptr;
  std::uint32_t local_key = 0;
  std::uint64_t remote = 0;
  std::uint32_t remote_key = 0;
};

// What this process has of a step.
struct StepPart {
  // At the step's driver: by link. At the receiver of messages: one, without a remote end.
  std::vector<LinkEndpoints> endpoints;
  Memory* source = nullptr;   // where the source is this process, and memory of the step's own
  Memory* target = nullptr;   // where the target is this process, and memory of the step's own
  std::byte* ring = nullptr;  // where this end has a ring
  // Where the step is in buffers, and this process has that end.
  std::byte const* reads = nullptr;
  std::byte* writes = nullptr;
  std::byte const* landing = nullptr;  // of a reduction from another process: where its bytes arrive
};

}  // namespace lanewise::hw
