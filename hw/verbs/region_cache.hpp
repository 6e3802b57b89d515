#pragma once
// Registrations of memory with NICs. They cost far more than a transfer, so they are kept from run to run.
#include <map>
#include <utility>

#include "hw/memory/memory.hpp"
#include "hw/verbs/nic.hpp"

namespace lanewise::hw {

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
