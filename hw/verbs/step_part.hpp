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
  Memory* source = nullptr;   // where the source is this process
  Memory* target = nullptr;   // where the target is this process
  std::byte* ring = nullptr;  // where this end has a ring
};

}  // namespace lanewise::hw
