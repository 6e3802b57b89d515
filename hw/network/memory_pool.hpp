#pragma once
// Memory for the ends of steps and for the buffers that steps share. It costs far more than a transfer, so it is kept
// from run to run.
#include <memory>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/network/network_plan.hpp"

namespace lanewise::hw {

class MemoryPool {
 public:
  // Memory of `bytes` bytes at that place that was not taken since release_all(); host memory that GPUs copy is pinned.
  // Throws MissingError and DeviceError as the memory does.
  Memory& take(NetworkMemory const& where, Bytes bytes);
  void release_all() { taken_.clear(); }

 private:
  struct Piece {
    NetworkMemory where;
    Bytes bytes;
    std::unique_ptr<Memory> memory;
  };
  std::vector<Piece> pieces_;
  std::vector<Memory const*> taken_;
};

}  // namespace lanewise::hw
