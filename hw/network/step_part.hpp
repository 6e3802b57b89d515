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

// One end of a step: memory of the step's own, from its beginning, or a part of a buffer.
struct StepEnd {
  Memory* memory = nullptr;  // nullptr: another process has it
  std::size_t offset = 0;
  Copier* copier = nullptr;  // where this end has a ring, or adds what a read has fetched
  [[nodiscard]] std::byte* data() const { return memory->data() + offset; }
};

// What this process has of a step.
struct StepPart {
  // At the step's driver: by link. At the receiver of messages: one, without a remote end.
  std::vector<LinkEndpoints> endpoints;
  StepEnd source, target;
  Memory* landing = nullptr;  // of a reduction by RDMA read: where its bytes arrive
  std::byte* ring = nullptr;  // where this end has a ring
};

}  // namespace lanewise::hw
