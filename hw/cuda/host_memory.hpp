#pragma once
// Host memory on a NUMA node, pinned for devices or not.
#include <cstdint>
#include <optional>

#include "core/units/quantity.hpp"

namespace lanewise::hw {

// A NUMA node as the operating system counts it; absent: wherever the kernel puts it.
using NumaIndex = std::optional<int>;

// Whole pages bound to a NUMA node, present from the start. Pinned memory has the same address on all devices.
class HostMemory {
 public:
  enum class Kind : std::uint8_t { Pinned, Pageable };

  // Throws DeviceError when it cannot be had or cannot be on that node.
  HostMemory(Bytes bytes, NumaIndex numa, Kind kind);
  HostMemory(HostMemory const&) = delete;
  HostMemory& operator=(HostMemory const&) = delete;
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory();

  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t length_ = 0;
  bool registered_ = false;
};

// Binds the calling thread to the cores of a NUMA node for a scope; does nothing where the node has no cores or is
// unknown.
class OnNumaNode {
 public:
  explicit OnNumaNode(NumaIndex numa);
  ~OnNumaNode();
  OnNumaNode(OnNumaNode const&) = delete;
  OnNumaNode& operator=(OnNumaNode const&) = delete;

 private:
  struct Before;
  Before* before_ = nullptr;
};

}  // namespace lanewise::hw
