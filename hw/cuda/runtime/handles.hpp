#pragma once
// Owners of CUDA's handles. A device is a Device, never a bare int; DeviceGuard makes one current for a scope.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/io/handle.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

enum class Device : int {};
constexpr int ordinal(Device device) { return static_cast<int>(device); }

// Makes a device current for a scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(DeviceGuard const&) = delete;
  DeviceGuard& operator=(DeviceGuard const&) = delete;

 private:
  int before_ = 0;
};

struct StreamTraits {
  using type = cudaStream_t;
  static type null() { return nullptr; }
  static void destroy(type stream) noexcept { cudaStreamDestroy(stream); }
};
using Stream = Handle<StreamTraits>;
Stream make_stream(Device device);         // does not wait for the default stream
Stream make_urgent_stream(Device device);  // likewise, of the highest priority

struct EventTraits {
  using type = cudaEvent_t;
  static type null() { return nullptr; }
  static void destroy(type event) noexcept { cudaEventDestroy(event); }
};
using Event = Handle<EventTraits>;
Event make_event(Device device);        // with timing
Event make_order_event(Device device);  // without timing: only to wait for

struct GraphTraits {
  using type = cudaGraphExec_t;
  static type null() { return nullptr; }
  static void destroy(type graph) noexcept { cudaGraphExecDestroy(graph); }
};
using Graph = Handle<GraphTraits>;

struct DeviceMemoryTraits {
  using type = void*;
  static type null() { return nullptr; }
  static void destroy(type memory) noexcept { cudaFree(memory); }
};
using DeviceMemory = Handle<DeviceMemoryTraits>;
DeviceMemory allocate_on(Device device, Bytes bytes);
// Unified Memory, whose pages move between devices and host.
DeviceMemory allocate_managed(Bytes bytes);

}  // namespace lanewise::hw
