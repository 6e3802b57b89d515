// GPU memory for NICs: exported as a dma-buf where the driver supports that, else registered by its address (peermem).
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <unistd.h>

#include "hw/cuda/devices/devices.hpp"
#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/runtime/driver_entry.hpp"
#include "hw/cuda/runtime/handles.hpp"
#include "hw/executor_factory.hpp"
#include "hw/memory/bound_pages.hpp"
#include "hw/memory/pattern.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

Device device_at(std::string const& bdf, int gpu) {
  auto const found = count_devices();
  if (found.count == 0) throw MissingError(fmt::format("no GPU is here: {}", found.reason));
  int device = gpu;
  if (!bdf.empty() && cudaDeviceGetByPCIBusId(&device, bdf.c_str()) != cudaSuccess) {
    cudaGetLastError();
    throw MissingError(fmt::format("no GPU is at {}", bdf));
  }
  if (device >= found.count) throw MissingError(fmt::format("GPU {} is not here: there are {}", gpu, found.count));
  return Device(device);
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
    DeviceGuard const guard(device_);
    auto const found = allocate_on(device_, Bytes(8));
    LANEWISE_CUDA(cudaMemsetAsync(found.get(), 0xff, 8, stream_.get()));
    launch_compare(data(), bytes_, seed, static_cast<unsigned long long*>(found.get()), shape_, stream_.get());
    std::uint64_t first = 0;
    LANEWISE_CUDA(cudaMemcpyAsync(&first, found.get(), 8, cudaMemcpyDeviceToHost, stream_.get()));
    LANEWISE_CUDA(cudaStreamSynchronize(stream_.get()));
    if (first == ~std::uint64_t{0}) return std::nullopt;
    std::uint8_t got = 0;
    LANEWISE_CUDA(cudaMemcpy(&got, data() + first, 1, cudaMemcpyDeviceToHost));
    return Mismatch{first, pattern_byte(seed, first), got};
  }

  void begin_copy_out(std::byte* host, std::size_t offset, std::size_t bytes) override {
    LANEWISE_CUDA(cudaMemcpyAsync(host, data() + offset, bytes, cudaMemcpyDefault, stream_.get()));
  }
  void begin_copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) override {
    LANEWISE_CUDA(cudaMemcpyAsync(data() + offset, host, bytes, cudaMemcpyDefault, stream_.get()));
  }
  [[nodiscard]] bool copied() const override {
    auto const state = cudaStreamQuery(stream_.get());
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // clears 'not ready', which is no error
      return false;
    }
    check_cuda(state, "cudaStreamQuery");
    return true;
  }

 private:
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

}  // namespace

std::unique_ptr<Memory> make_gpu_memory(std::string const& bdf, int gpu, Bytes bytes) {
  return std::make_unique<GpuMemory>(device_at(bdf, gpu), bytes);
}

}  // namespace lanewise::hw
