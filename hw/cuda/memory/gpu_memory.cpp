// Memory of GPUs in plans of several nodes: exported to NICs as a dma-buf where the driver supports that, else
// registered by its address (peermem); copied chunk by chunk where no NIC reaches it.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "hw/cuda/devices/devices.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/memory/stream_copier.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/runtime/driver_entry.hpp"
#include "hw/cuda/runtime/handles.hpp"
#include "hw/memory/bound_pages.hpp"
#include "hw/memory/gpu_memory.hpp"
#include "hw/memory/pattern.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

Device device_at(std::string const& bdf, int gpu) {
  auto const found = count_devices();
  if (found.count == 0) throw MissingError(fmt::format("no GPU is here: {}", found.reason));
  if (bdf.empty()) {
    auto const devices = devices_by_address();
    if (static_cast<std::size_t>(gpu) >= devices.size())
      throw MissingError(fmt::format("GPU {} is not here: there are {}", gpu, devices.size()));
    return devices[static_cast<std::size_t>(gpu)];
  }
  int device = 0;
  if (cudaDeviceGetByPCIBusId(&device, bdf.c_str()) == cudaSuccess) return Device(device);
  cudaGetLastError();
  throw MissingError(fmt::format("no GPU is at {}", bdf));
}

class GpuMemory : public Memory {
 public:
  GpuMemory(Device device, Bytes bytes)
      : device_(device),
        bytes_(static_cast<std::uint64_t>(bytes.value())),
        length_(whole_pages(bytes)),  // a dma-buf covers whole pages
        memory_(allocate_on(device, Bytes(static_cast<std::int64_t>(length_)))),
        stream_(make_stream(device)) {
    LANEWISE_CUDA(cudaDeviceGetAttribute(&shape_.multiprocessors, cudaDevAttrMultiProcessorCount, ordinal(device)));
    export_dma_buf();
  }
  GpuMemory(GpuMemory const&) = delete;
  GpuMemory& operator=(GpuMemory const&) = delete;
  ~GpuMemory() override {
    if (dma_buf_) close(*dma_buf_);
  }

  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(memory_.get()); }
  [[nodiscard]] bool is_on_gpu() const override { return true; }
  [[nodiscard]] std::optional<int> dma_buf() const override { return dma_buf_; }

  void fill(std::uint64_t seed) override {
    DeviceGuard const guard(device_);
    launch_fill(data(), bytes_, seed, shape_, stream_.get());
    LANEWISE_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  void clear() override {
    DeviceGuard const guard(device_);
    LANEWISE_CUDA(cudaMemsetAsync(data(), 0, length_, stream_.get()));
    LANEWISE_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const override {
    auto const first = first_wrong(
        [&](unsigned long long* found) { launch_compare(data(), bytes_, seed, found, shape_, stream_.get()); });
    if (!first) return std::nullopt;
    return Mismatch{*first, pattern_byte(seed, *first), byte_at(*first)};
  }
  void fill(MemoryContent const& content) override {
    DeviceGuard const guard(device_);
    launch_fill_sum(data() + content.at, static_cast<std::uint64_t>(content.bytes), contribution(content), shape_,
                    stream_.get());
    LANEWISE_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  [[nodiscard]] std::optional<Mismatch> mismatch(MemoryContent const& content) const override {
    auto const first = first_wrong([&](unsigned long long* found) {
      launch_compare_sum(data() + content.at, static_cast<std::uint64_t>(content.bytes), contribution(content),
                         static_cast<std::uint64_t>(content.at), found, shape_, stream_.get());
    });
    if (!first) return std::nullopt;
    auto const within = *first - static_cast<std::uint64_t>(content.at);
    return Mismatch{*first, byte_of(contributed_word(contribution(content), within / 8), within), byte_at(*first)};
  }

  [[nodiscard]] std::unique_ptr<Copier> copier() override { return make_stream_copier(device_, data()); }

 private:
  static Contribution contribution(MemoryContent const& content) {
    return {static_cast<std::uint64_t>(content.from) / 8, content.first, content.count};
  }

  // The offset that `compare` leaves; it gets the address of a word that is all ones.
  template <class Compare>
  [[nodiscard]] std::optional<std::uint64_t> first_wrong(Compare const& compare) const {
    DeviceGuard const guard(device_);
    auto const found = allocate_on(device_, Bytes(8));
    LANEWISE_CUDA(cudaMemsetAsync(found.get(), 0xff, 8, stream_.get()));
    compare(static_cast<unsigned long long*>(found.get()));
    std::uint64_t first = 0;
    LANEWISE_CUDA(cudaMemcpyAsync(&first, found.get(), 8, cudaMemcpyDeviceToHost, stream_.get()));
    LANEWISE_CUDA(cudaStreamSynchronize(stream_.get()));
    return first == ~std::uint64_t{0} ? std::nullopt : std::optional(first);
  }
  [[nodiscard]] std::uint8_t byte_at(std::uint64_t offset) const {
    std::uint8_t got = 0;
    LANEWISE_CUDA(cudaMemcpy(&got, data() + offset, 1, cudaMemcpyDeviceToHost));
    return got;
  }

  // Without a dma-buf (of driver, kernel or GPU), NICs register the address.
  void export_dma_buf() {
    int can = 0;
    if (cudaDeviceGetAttribute(&can, cudaDevAttrGPUDirectRDMASupported, ordinal(device_)) != cudaSuccess)
      cudaGetLastError();
    auto* const get_handle = reinterpret_cast<decltype(&cuMemGetHandleForAddressRange)>(
        can != 0 ? driver_entry("cuMemGetHandleForAddressRange") : nullptr);
    if (get_handle == nullptr) return;
    int descriptor = -1;
    auto const code =
        get_handle(&descriptor, reinterpret_cast<CUdeviceptr>(data()), length_, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    if (code == CUDA_SUCCESS) dma_buf_ = descriptor;
  }

  Device device_;
  std::uint64_t bytes_;
  std::size_t length_;
  KernelShape shape_;
  DeviceMemory memory_;
  Stream stream_;
  std::optional<int> dma_buf_;
};

// Host memory that GPUs copy and reach.
class PinnedMemory : public NodeMemory {
 public:
  PinnedMemory(Bytes bytes, NumaIndex numa) : NodeMemory(bytes, numa) {
    LANEWISE_CUDA(cudaHostRegister(pages().data(), pages().length(), cudaHostRegisterPortable));
  }
  PinnedMemory(PinnedMemory const&) = delete;
  PinnedMemory& operator=(PinnedMemory const&) = delete;
  ~PinnedMemory() override { cudaHostUnregister(pages().data()); }
};

}  // namespace

std::unique_ptr<Memory> make_pinned_memory(Bytes bytes, NumaIndex numa) {
  set_cuda_environment();
  if (auto const found = count_devices(); found.count == 0)
    throw MissingError(fmt::format("no GPU is here: {}", found.reason));
  return std::make_unique<PinnedMemory>(bytes, numa);
}

void choose_gpu(int gpu) {
  set_cuda_environment();
  LANEWISE_CUDA(cudaSetDevice(ordinal(device_at({}, gpu))));
}

int visible_gpus() {
  set_cuda_environment();
  return count_devices().count;
}

std::unique_ptr<Memory> make_gpu_memory(std::string const& bdf, int gpu, Bytes bytes) {
  set_cuda_environment();
  return std::make_unique<GpuMemory>(device_at(bdf, gpu), bytes);
}

}  // namespace lanewise::hw
