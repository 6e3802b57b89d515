#pragma once
// Memory for steps and its registrations with NICs. Both cost far more than a transfer, so they are kept from run to
// run.
#include <map>
#include <memory>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/verbs/nic.hpp"

namespace lanewise::hw {

// Memory for the ends of steps, used again by later plans.
class MemoryPool {
 public:
  explicit MemoryPool(MakeGpuMemory make_gpu_memory) : make_gpu_memory_(make_gpu_memory) {}

  // Memory of `bytes` bytes at that place that was not taken since release_all().
  Memory& take(NetworkMemory const& where, Bytes bytes);
  void release_all() { taken_.clear(); }

 private:
  struct Piece {
    NetworkMemory where;
    Bytes bytes;
    std::unique_ptr<Memory> memory;
  };
  MakeGpuMemory make_gpu_memory_;
  std::vector<Piece> pieces_;
  std::vector<Memory const*> taken_;
};

// Memory regions registered with NICs. Must be destroyed before their memory and their NICs.
class RegionCache {
 public:
  // The region of that memory with a NIC, registered at the first call: GPU memory by its dma-buf where it has one,
  // else by its address (peermem). Throws DeviceError, with advice where the limit of locked memory is the reason.
  ibv_mr const& region(Nic const& nic, Memory const& memory, Bytes bytes);

 private:
  std::map<std::pair<Nic const*, Memory const*>, MemoryRegion> regions_;
};

}  // namespace lanewise::hw
