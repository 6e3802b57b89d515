#include "hw/cuda/memory/host_memory.hpp"

#include "hw/cuda/runtime/cuda_error.hpp"

namespace lanewise::hw {

HostMemory::HostMemory(Bytes bytes, NumaIndex numa, Kind kind) : pages_(bytes, numa) {
  if (kind == Kind::Pageable) return;
  LANEWISE_CUDA(cudaHostRegister(pages_.data(), pages_.length(), cudaHostRegisterPortable));
  registered_ = true;
}

HostMemory::~HostMemory() {
  if (registered_) cudaHostUnregister(pages_.data());
}

}  // namespace lanewise::hw
