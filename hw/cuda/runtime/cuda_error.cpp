#include "hw/cuda/runtime/cuda_error.hpp"

#include "lanewise/io/error.hpp"

namespace lanewise::hw {

void check_cuda(cudaError_t result, char const* call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();
  throw DeviceError(call, static_cast<int>(result), cudaGetErrorString(result));
}

}  // namespace lanewise::hw
