#include "hw/cuda/memory/device_buffer.hpp"

#include <cstring>

#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/memory/pattern.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Kernels move and compare whole vectors of 16 bytes.
Bytes padded(Bytes bytes) { return Bytes((bytes.value() + 15) / 16 * 16 + 16); }

std::variant<DeviceMemory, HostMemory, void*> allocate(Devices const& devices, Place const& place, Bytes bytes,
                                                       Pages pages, Device device) {
  switch (pages) {
    case Pages::Device: return allocate_on(device, padded(bytes));
    case Pages::Managed: return allocate_managed(padded(bytes));
    case Pages::Pinned:
    case Pages::Pageable: break;
  }
  auto const numa = devices.machine().at(std::get<NumaId>(place)).os_index;
  return HostMemory(padded(bytes), numa,
                    pages == Pages::Pinned ? HostMemory::Kind::Pinned : HostMemory::Kind::Pageable);
}

}  // namespace

DeviceBuffer::DeviceBuffer(Devices const& devices, Place const& place, Bytes bytes, Pages pages, Device near)
    : bytes_(bytes),
      pages_(pages),
      device_(std::holds_alternative<PciId>(place) ? devices.of(place) : near),
      shape_(devices.shape(device_)),
      memory_(allocate(devices, place, bytes, pages, device_)) {}

DeviceBuffer DeviceBuffer::view(Devices const& devices, void* memory, Bytes bytes, Pages pages, Device device) {
  return {bytes, pages, device, devices.shape(device), memory};
}

DeviceBuffer DeviceBuffer::window(Bytes offset, Bytes bytes) const {
  return {*this, bytes, static_cast<std::uint8_t*>(data()) + offset.value()};
}

void* DeviceBuffer::data() const {
  if (auto const* window = std::get_if<Window>(&memory_)) return *window;
  auto const* device = std::get_if<DeviceMemory>(&memory_);
  return device != nullptr ? device->get() : std::get<HostMemory>(memory_).data();
}

void DeviceBuffer::fill(std::uint64_t seed) {
  if (by_host()) {
    auto* const bytes = static_cast<std::uint8_t*>(data());
    for (std::uint64_t i = 0; i * 8 < length(bytes_); ++i) {
      auto const word = pattern_word(seed, i);
      std::memcpy(bytes + i * 8, &word, std::min<std::uint64_t>(8, length(bytes_) - i * 8));
    }
    return;
  }
  DeviceGuard const guard(device_);
  launch_fill(data(), length(bytes_), seed, shape_, nullptr);
  LANEWISE_CUDA(cudaStreamSynchronize(nullptr));
}

void DeviceBuffer::clear() {
  if (by_host()) {
    std::memset(data(), 0, length(bytes_));
    return;
  }
  DeviceGuard const guard(device_);
  check_cuda(cudaMemsetAsync(data(), 0, length(padded(bytes_)), nullptr), "cudaMemsetAsync");
  LANEWISE_CUDA(cudaStreamSynchronize(nullptr));
}

std::uint64_t DeviceBuffer::first_wrong(std::uint64_t seed) const {
  if (by_host()) {
    auto const* const bytes = static_cast<std::uint8_t const*>(data());
    for (std::uint64_t i = 0; i < length(bytes_); ++i)
      if (bytes[i] != pattern_byte(seed, i)) return i;
    return kNoMismatch;
  }
  DeviceGuard const guard(device_);
  auto const found = allocate_on(device_, Bytes(8));
  check_cuda(cudaMemsetAsync(found.get(), 0xff, 8, nullptr), "cudaMemsetAsync");
  launch_compare(data(), length(bytes_), seed, static_cast<unsigned long long*>(found.get()), shape_, nullptr);
  std::uint64_t first = 0;
  check_cuda(cudaMemcpy(&first, found.get(), 8, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return first;
}

std::optional<Mismatch> DeviceBuffer::mismatch(std::uint64_t seed) const {
  auto const offset = first_wrong(seed);
  if (offset == kNoMismatch) return std::nullopt;
  std::uint8_t got = 0;
  DeviceGuard const guard(device_);
  check_cuda(cudaMemcpy(&got, static_cast<std::uint8_t const*>(data()) + offset, 1, cudaMemcpyDefault), "cudaMemcpy");
  return Mismatch{offset, pattern_byte(seed, offset), got};
}

}  // namespace lanewise::hw
