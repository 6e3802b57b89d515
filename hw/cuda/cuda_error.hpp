#pragma once
#include <cuda_runtime_api.h>

namespace lanewise::hw {

// Throws DeviceError (core/io/error.hpp, which needs C++20 and kernels have C++17) naming the call when a CUDA call
// failed, and clears the runtime's memory of it.
void check_cuda(cudaError_t result, char const* call);

}  // namespace lanewise::hw

// The call as it is written stands in the message.
#define LANEWISE_CUDA(call) ::lanewise::hw::check_cuda((call), #call)
