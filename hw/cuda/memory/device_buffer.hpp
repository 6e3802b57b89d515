#pragma once
// Memory at a place that carries the pattern of a transfer, and says where it does not.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/machine/machine.hpp"
#include "hw/cuda/devices.hpp"
#include "hw/cuda/memory/host_memory.hpp"
#include "hw/memory/mismatch.hpp"

namespace lanewise::hw {

inline constexpr auto kNoMismatch = ~std::uint64_t{0};  // the first wrong byte where there is none
inline std::uint64_t length(Bytes bytes) { return static_cast<std::uint64_t>(bytes.value()); }

enum class Pages : std::uint8_t { Device, Pinned, Pageable, Managed };

class DeviceBuffer {
  using Window = void*;
  using Memory = std::variant<DeviceMemory, HostMemory, Window>;

 public:
  // Of `bytes` at `place`; `near` is the device that fills and checks host memory.
  DeviceBuffer(Devices const& devices, Place const& place, Bytes bytes, Pages pages, Device near);

  // A part of a buffer that outlives it; it gives nothing back.
  [[nodiscard]] DeviceBuffer window(Bytes offset, Bytes bytes) const;

  [[nodiscard]] void* data() const;
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] Pages pages() const { return pages_; }
  // The device that it is on; of host memory the one that fills and checks it.
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] KernelShape shape() const { return shape_; }

  // All of these return when it is done.
  void fill(std::uint64_t seed);
  void clear();  // zeros
  // Where it differs from what fill(seed) leaves; checked by the device, where that can reach it.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const;

 private:
  DeviceBuffer(DeviceBuffer const& like, Bytes bytes, Memory memory)
      : bytes_(bytes), pages_(like.pages_), device_(like.device_), shape_(like.shape_), memory_(std::move(memory)) {}
  [[nodiscard]] bool by_host() const { return pages_ == Pages::Pageable; }
  [[nodiscard]] std::uint64_t first_wrong(std::uint64_t seed) const;

  Bytes bytes_;
  Pages pages_;
  Device device_;
  KernelShape shape_;
  Memory memory_;
};

}  // namespace lanewise::hw
