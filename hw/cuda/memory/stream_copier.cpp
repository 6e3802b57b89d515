#include "hw/cuda/memory/stream_copier.hpp"

#include <cuda_runtime_api.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"

namespace lanewise::hw {
namespace {

// The copies of all messages of a GPU share a few streams. None of them waits for anything, so they hold one another up
// for a copy at most; in streams of their own they would need more queues than the hardware has. Their priority gives
// them queues apart from those of steps, which wait for messages.
class CopyStreams {
 public:
  cudaStream_t next(Device device) {
    auto& streams = streams_[device];
    if (streams.size() < kStreams) {
      streams.push_back(make_urgent_stream(device));
      return streams.back().get();
    }
    return streams[++next_ % kStreams].get();
  }

 private:
  static constexpr std::size_t kStreams = 4;
  std::map<Device, std::vector<Stream>> streams_;
  std::size_t next_ = 0;
};

CopyStreams& copy_streams() {
  static CopyStreams streams;
  return streams;
}

// Blocks of a kernel that reads host memory: few fill the link, and the GPU's other work needs the rest.
constexpr int kReadingBlocks = 16;

// An event follows each copy.
class StreamCopier : public Copier {
 public:
  StreamCopier(Device device, std::byte* memory)
      : device_(device), memory_(memory), stream_(copy_streams().next(device)) {
    LANEWISE_CUDA(cudaDeviceGetAttribute(&shape_.multiprocessors, cudaDevAttrMultiProcessorCount, ordinal(device)));
  }
  StreamCopier(StreamCopier const&) = delete;
  StreamCopier& operator=(StreamCopier const&) = delete;
  ~StreamCopier() override { cudaStreamSynchronize(stream_); }

  void copy_out(std::byte* host, std::size_t offset, std::size_t bytes) override {
    LANEWISE_CUDA(cudaMemcpyAsync(host, memory_ + offset, bytes, cudaMemcpyDefault, stream_));
    note();
  }
  void copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) override {
    LANEWISE_CUDA(cudaMemcpyAsync(memory_ + offset, host, bytes, cudaMemcpyDefault, stream_));
    note();
  }
  void add(std::byte const* source, std::size_t offset, std::size_t bytes) override {
    DeviceGuard const guard(device_);
    cudaPointerAttributes where{};
    LANEWISE_CUDA(cudaPointerGetAttributes(&where, source));
    auto const shape = where.type == cudaMemoryTypeDevice ? shape_ : KernelShape{kReadingBlocks, 1};
    launch_add(memory_ + offset, source, bytes, shape, stream_);
    note();
  }
  [[nodiscard]] std::int64_t completed() override {
    while (!pending_.empty()) {
      auto const state = cudaEventQuery(pending_.front().get());
      if (state == cudaErrorNotReady) {
        cudaGetLastError();  // clears 'not ready', which is no error
        break;
      }
      check_cuda(state, "cudaEventQuery");
      free_.push_back(std::move(pending_.front()));
      pending_.pop_front();
      ++completed_;
    }
    return completed_;
  }

 private:
  void note() {
    if (free_.empty()) free_.push_back(make_order_event(device_));
    auto event = std::move(free_.back());
    free_.pop_back();
    LANEWISE_CUDA(cudaEventRecord(event.get(), stream_));
    pending_.push_back(std::move(event));
  }

  Device device_;
  std::byte* memory_;
  KernelShape shape_;
  cudaStream_t stream_;
  std::deque<Event> pending_;
  std::vector<Event> free_;
  std::int64_t completed_ = 0;
};

}  // namespace

std::unique_ptr<Copier> make_stream_copier(Device device, std::byte* memory) {
  return std::make_unique<StreamCopier>(device, memory);
}

}  // namespace lanewise::hw
