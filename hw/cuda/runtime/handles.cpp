#include "hw/cuda/runtime/handles.hpp"

#include <fmt/format.h>

#include "hw/cuda/runtime/cuda_error.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::hw {

DeviceGuard::DeviceGuard(Device device) {
  LANEWISE_CUDA(cudaGetDevice(&before_));
  if (before_ != ordinal(device)) check_cuda(cudaSetDevice(ordinal(device)), "cudaSetDevice");
}
DeviceGuard::~DeviceGuard() { cudaSetDevice(before_); }

Stream make_stream(Device device) {
  DeviceGuard const guard(device);
  cudaStream_t stream = nullptr;
  LANEWISE_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

Stream make_urgent_stream(Device device) {
  DeviceGuard const guard(device);
  int lowest = 0;
  int highest = 0;
  LANEWISE_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  cudaStream_t stream = nullptr;
  LANEWISE_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
  return Stream(stream);
}

namespace {

Event make_event_with(Device device, unsigned flags) {
  DeviceGuard const guard(device);
  cudaEvent_t event = nullptr;
  LANEWISE_CUDA(cudaEventCreateWithFlags(&event, flags));
  return Event(event);
}

void check_allocation(cudaError_t result, Bytes bytes, std::string const& where) {
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw DeviceError(fmt::format("{} more of {}", exact_text(bytes), where), static_cast<int>(result),
                      "out of memory");
  }
  check_cuda(result, "cudaMalloc");
}

}  // namespace

Event make_event(Device device) { return make_event_with(device, cudaEventDefault); }
Event make_order_event(Device device) { return make_event_with(device, cudaEventDisableTiming); }

DeviceMemory allocate_on(Device device, Bytes bytes) {
  DeviceGuard const guard(device);
  void* memory = nullptr;
  check_allocation(cudaMalloc(&memory, static_cast<std::size_t>(bytes.value())), bytes,
                   fmt::format("the memory of GPU {}", ordinal(device)));
  return DeviceMemory(memory);
}

DeviceMemory allocate_managed(Bytes bytes) {
  void* memory = nullptr;
  check_allocation(cudaMallocManaged(&memory, static_cast<std::size_t>(bytes.value()), cudaMemAttachGlobal), bytes,
                   "Unified Memory");
  return DeviceMemory(memory);
}

}  // namespace lanewise::hw
