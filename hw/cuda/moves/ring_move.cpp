#include "hw/cuda/moves/ring_move.hpp"

#include <algorithm>

#include "hw/cuda/moves/device_moves.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

void wait_for(cudaStream_t stream, Event const& event) {
  check_cuda(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}
void mark(Event const& event, cudaStream_t stream) {
  check_cuda(cudaEventRecord(event.get(), stream), "cudaEventRecord");
}

// Captures a stream into a graph. The destructor ends a capture that an error left open, so that the stream can be
// destroyed.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  Capture(Capture const&) = delete;
  Capture& operator=(Capture const&) = delete;
  ~Capture() {
    if (stream_ == nullptr) return;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
  }
  Graph end() {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    auto const result = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(result, "cudaGraphInstantiate");
    return Graph(executable);
  }

 private:
  cudaStream_t stream_;
};

}  // namespace

RingMove::RingMove(DeviceBuffer const& source, DeviceBuffer const& target, std::vector<DeviceBuffer> slots,
                   Device first, Device second)
    : source_(source), target_(target), slots_(std::move(slots)), first_(first), second_(second), graph_(record()) {}

Graph RingMove::record() {
  auto const out = make_stream(first_);
  auto const in = make_stream(second_);
  std::vector<Event> filled;
  std::vector<Event> drained;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    filled.push_back(make_order_event(first_));
    drained.push_back(make_order_event(second_));
  }
  auto const chunk = slots_.front().bytes();
  auto const total = source_.bytes();
  DeviceGuard const guard(first_);
  Capture capture(out.get());
  std::size_t i = 0;
  for (Bytes offset{0}; offset < total; offset += chunk, ++i) {
    auto const slot = i % slots_.size();
    auto const bytes = std::min(chunk, total - offset);
    if (i >= slots_.size()) wait_for(out.get(), drained[slot]);
    enqueue_copy({slots_[slot], Bytes(0), source_, offset, bytes}, out.get());
    mark(filled[slot], out.get());
    wait_for(in.get(), filled[slot]);
    DeviceGuard const at_second(second_);
    enqueue_copy({target_, offset, slots_[slot], Bytes(0), bytes}, in.get());
    mark(drained[slot], in.get());
  }
  wait_for(out.get(), drained[(i - 1) % slots_.size()]);
  return capture.end();
}

void RingMove::prepare() {
  DeviceGuard const guard(first_);
  auto const stream = make_stream(first_);
  check_cuda(cudaGraphUpload(graph_.get(), stream.get()), "cudaGraphUpload");
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

void RingMove::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(first_);
  check_cuda(cudaGraphLaunch(graph_.get(), stream), "cudaGraphLaunch");
}

}  // namespace lanewise::hw
