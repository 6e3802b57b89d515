#pragma once
// Host memory on a NUMA node, pinned or not.
#include <cstdint>
#include <utility>

#include "hw/memory/bound_pages.hpp"

namespace lanewise::hw {

// Pinned memory has the same address on all devices.
class HostMemory {
 public:
  enum class Kind : std::uint8_t { Pinned, Pageable };

  // Throws DeviceError when it cannot be allocated or bound to that node.
  HostMemory(Bytes bytes, NumaIndex numa, Kind kind);
  HostMemory(HostMemory const&) = delete;
  HostMemory& operator=(HostMemory const&) = delete;
  HostMemory(HostMemory&& other) noexcept
      : pages_(std::move(other.pages_)), registered_(std::exchange(other.registered_, false)) {}
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  [[nodiscard]] void* data() const { return pages_.data(); }

 private:
  BoundPages pages_;
  bool registered_ = false;
};

}  // namespace lanewise::hw
