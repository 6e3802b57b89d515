#pragma once
// Memory of a step at a place of the machine. It is filled with a pattern and checked against it.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "hw/cuda/devices/devices.hpp"
#include "hw/cuda/memory/host_memory.hpp"
#include "hw/memory/mismatch.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::hw {

inline constexpr auto kNoMismatch = ~std::uint64_t{0};  // the offset of the first wrong byte where there is none
inline std::uint64_t length(Bytes bytes) { return static_cast<std::uint64_t>(bytes.value()); }

enum class Pages : std::uint8_t { Device, Pinned, Pageable, Managed };

class DeviceBuffer {
  using Window = void*;
  using Memory = std::variant<DeviceMemory, HostMemory, Window>;

 public:
  // Allocates `bytes` at `place`. `near` is the device that fills and checks host memory. Throws DeviceError when there
  // is no memory left.
  DeviceBuffer(Devices const& devices, Place const& place, Bytes bytes, Pages pages, Device near);

  // Memory that something else owns and that must outlive it: a device's, or pinned.
  static DeviceBuffer view(Devices const& devices, void* memory, Bytes bytes, Pages pages, Device device);

  // A part of this buffer, which must outlive it.
  [[nodiscard]] DeviceBuffer window(Bytes offset, Bytes bytes) const;

  [[nodiscard]] void* data() const;
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] Pages pages() const { return pages_; }
  // The device that the memory is on; for host memory the one that fills and checks it.
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] KernelShape shape() const { return shape_; }

  // These return when the work is done.
  void fill(std::uint64_t seed);
  void clear();  // zeros
  // The first byte that differs from what fill(seed) writes. The device checks it; the host checks pageable memory.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const;

 private:
  DeviceBuffer(DeviceBuffer const& like, Bytes bytes, Memory memory)
      : bytes_(bytes), pages_(like.pages_), device_(like.device_), shape_(like.shape_), memory_(std::move(memory)) {}
  DeviceBuffer(Bytes bytes, Pages pages, Device device, KernelShape shape, Memory memory)
      : bytes_(bytes), pages_(pages), device_(device), shape_(shape), memory_(std::move(memory)) {}
  [[nodiscard]] bool by_host() const { return pages_ == Pages::Pageable; }
  [[nodiscard]] std::uint64_t first_wrong(std::uint64_t seed) const;

  Bytes bytes_;
  Pages pages_;
  Device device_;
  KernelShape shape_;
  Memory memory_;
};

}  // namespace lanewise::hw
