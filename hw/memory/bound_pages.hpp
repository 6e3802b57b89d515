#pragma once
// Host memory bound to a NUMA node, and threads bound to its cores.
#include <cstddef>
#include <optional>

#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

// A NUMA node as the operating system counts it; absent: wherever the kernel puts it.
using NumaIndex = std::optional<int>;

// `bytes` rounded up to whole pages.
std::size_t whole_pages(Bytes bytes);

// Whole pages bound to a NUMA node, already mapped in and zero.
class BoundPages {
 public:
  // Throws DeviceError when they cannot be allocated or bound to that node.
  BoundPages(Bytes bytes, NumaIndex numa);
  BoundPages(BoundPages const&) = delete;
  BoundPages& operator=(BoundPages const&) = delete;
  BoundPages(BoundPages&& other) noexcept;
  BoundPages& operator=(BoundPages&&) = delete;
  ~BoundPages();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t length() const { return length_; }

 private:
  void* data_ = nullptr;
  std::size_t length_ = 0;
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
