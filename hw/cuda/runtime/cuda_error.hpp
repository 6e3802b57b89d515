#pragma once
#include <cuda_runtime_api.h>

namespace lanewise::hw {

// Throws DeviceError naming the call when a CUDA call failed, and clears the runtime's error. DeviceError is in
// include/lanewise/io/error.hpp, which kernels cannot include: it needs C++20.
void check_cuda(cudaError_t result, char const* call);

}  // namespace lanewise::hw

// Puts the call as it is written into the message.
#define LANEWISE_CUDA(call) ::lanewise::hw::check_cuda((call), #call)
