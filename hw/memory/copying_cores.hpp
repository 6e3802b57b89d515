#pragma once
// Copies between host memories by CPU cores.
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "hw/memory/bound_pages.hpp"

namespace lanewise::hw {

// Several cores, the caller's included, that copy together. Each takes the next piece when it is ready, so a slow core
// does not keep the others waiting. With more than one core they write past the caches, so that memory reads and writes
// every byte exactly once.
class CopyingCores {
 public:
  // `cores`: at least one. All but the caller's are threads on the cores of `numa`.
  CopyingCores(int cores, NumaIndex numa);
  CopyingCores(CopyingCores const&) = delete;
  CopyingCores& operator=(CopyingCores const&) = delete;
  ~CopyingCores();

  // One call at a time.
  void copy(void* to, void const* from, Bytes bytes);

 private:
  void help(NumaIndex numa);
  void copy_pieces();

  std::size_t count_;
  std::uint8_t* to_ = nullptr;
  std::uint8_t const* from_ = nullptr;
  std::size_t bytes_ = 0;
  bool stopping_ = false;
  std::atomic<std::size_t> next_ = 0;
  std::barrier<> begun_, done_;  // the caller writes the members above only before the one and after the other
  std::vector<std::jthread> helpers_;
};

}  // namespace lanewise::hw
