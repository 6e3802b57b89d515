#pragma once
// Memory for steps and what it is registered with: both cost far more than a transfer, so both are kept from run to
// run.
#include <map>
#include <memory>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/verbs/nic.hpp"

namespace lanewise::hw {

class MemoryPool {
 public:
  explicit MemoryPool(MakeGpuMemory make_gpu_memory) : make_gpu_memory_(make_gpu_memory) {}

  // Memory there of at least that many bytes that nobody has taken since give_all_back().
  Memory& take(NetworkMemory const& where, Bytes bytes);
  void give_all_back() { taken_.clear(); }

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

// What NICs have registered. Regions must be gone before their memory and their NIC.
class RegionCache {
 public:
  // The region of that memory with a NIC, registered when first asked for: GPU memory by dma-buf where there is one,
  // else by its address (peermem). Throws DeviceError saying what to raise where the system refuses.
  ibv_mr const& region(Nic const& nic, Memory const& memory, Bytes bytes);

 private:
  std::map<std::pair<Nic const*, Memory const*>, MemoryRegion> regions_;
};

}  // namespace lanewise::hw
