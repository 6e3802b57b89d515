#pragma once
// Words that devices and the host both see, by which they wait for one another.
#include <atomic>
#include <cstdint>

#include "hw/cuda/memory/host_memory.hpp"

namespace lanewise::hw {

// `count` words in pinned memory; each starts at 0.
class HostFlags {
 public:
  explicit HostFlags(std::size_t count)
      : memory_(Bytes(static_cast<std::int64_t>(count * kSpacing)), std::nullopt, HostMemory::Kind::Pinned) {}

  [[nodiscard]] std::uint32_t* word(std::size_t i) const {
    return reinterpret_cast<std::uint32_t*>(static_cast<std::uint8_t*>(memory_.data()) + i * kSpacing);
  }
  [[nodiscard]] std::uint32_t load(std::size_t i) const {
    return std::atomic_ref(*word(i)).load(std::memory_order_acquire);
  }
  void store(std::size_t i, std::uint32_t value) const {
    std::atomic_ref(*word(i)).store(value, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kSpacing = 128;  // bytes, two cache lines: no two words are fetched together
  HostMemory memory_;
};

}  // namespace lanewise::hw
