#include "hw/network/memory_pool.hpp"

#include <algorithm>

#include "hw/memory/gpu_memory.hpp"

namespace lanewise::hw {
namespace {

std::unique_ptr<Memory> make_memory(NetworkMemory const& where, Bytes bytes) {
  if (where.gpu >= 0) return make_gpu_memory(where.bdf, where.gpu, bytes);
  auto const numa = where.numa < 0 ? NumaIndex() : NumaIndex(where.numa);
  if (where.pinned) return make_pinned_memory(bytes, numa);
  return std::make_unique<NodeMemory>(bytes, numa);
}

}  // namespace

Memory& MemoryPool::take(NetworkMemory const& where, Bytes bytes) {
  // Names differ between plans, so they do not count.
  auto const fits = [&](Piece const& piece) {
    return piece.where.numa == where.numa && piece.where.gpu == where.gpu && piece.where.bdf == where.bdf &&
           piece.where.pinned == where.pinned && piece.bytes == bytes &&
           std::find(taken_.begin(), taken_.end(), piece.memory.get()) == taken_.end();
  };
  auto found = std::find_if(pieces_.begin(), pieces_.end(), fits);
  if (found == pieces_.end()) {
    pieces_.push_back({where, bytes, make_memory(where, bytes)});
    found = std::prev(pieces_.end());
  }
  taken_.push_back(found->memory.get());
  return *found->memory;
}

}  // namespace lanewise::hw
