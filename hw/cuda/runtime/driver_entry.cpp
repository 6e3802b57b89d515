#include "hw/cuda/runtime/driver_entry.hpp"

#include <cuda_runtime_api.h>

namespace lanewise::hw {

void* driver_entry(char const* name) {
  constexpr unsigned kVersion = 12000;
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &entry, kVersion, cudaEnableDefault, &result) == cudaSuccess &&
      result == cudaDriverEntryPointSuccess)
    return entry;
  cudaGetLastError();
  return nullptr;
}

}  // namespace lanewise::hw
