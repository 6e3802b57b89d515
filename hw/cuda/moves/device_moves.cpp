#include "hw/cuda/moves/device_moves.hpp"

#include <cmath>
#include <utility>

#include "hw/cuda/runtime/cuda_error.hpp"

namespace lanewise::hw {
void enqueue_copy(BufferCopy const& copy, cudaStream_t stream) {
  auto* const to = static_cast<std::uint8_t*>(copy.target.data()) + copy.to_offset.value();
  auto const* const from = static_cast<std::uint8_t const*>(copy.source.data()) + copy.from_offset.value();
  // The driver knows the devices by the addresses. Unlike cudaMemcpyPeerAsync, this can be captured into a graph.
  check_cuda(cudaMemcpyAsync(to, from, length(copy.bytes), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void EngineCopy::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(driver_);
  enqueue_copy({target_, Bytes(0), source_, Bytes(0), source_.bytes()}, stream);
}

void KernelMove::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(driver_);
  auto const bytes = static_cast<std::uint64_t>(source_.bytes().value());
  if (op_ == Op::Atomic)
    launch_atomic_add(target_.data(), source_.data(), bytes, shape_, stream);
  else
    launch_copy(target_.data(), source_.data(), bytes, shape_, stream);
}

void Occupation::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(device_);
  launch_occupy(static_cast<std::uint64_t>(std::llround(work_.value() * 1e9)), shape_, stream);
}

void AddMove::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(target_.device());
  launch_add(target_.data(), source_.data(), length(target_.bytes()), target_.shape(), stream);
}

CopyThenAdd::CopyThenAdd(std::unique_ptr<Move> arrival, DeviceBuffer const& arrived, DeviceBuffer const& target)
    : arrival_(std::move(arrival)),
      addition_(arrived, target),
      arriving_(make_stream(arrival_->device())),
      begin_(make_order_event(target.device())),
      arrived_(make_order_event(arrival_->device())) {}

void CopyThenAdd::enqueue(cudaStream_t stream) {
  if (arrival_->device() == device()) {
    arrival_->enqueue(stream);
  } else {
    check_cuda(cudaEventRecord(begin_.get(), stream), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(arriving_.get(), begin_.get(), 0), "cudaStreamWaitEvent");
    arrival_->enqueue(arriving_.get());
    DeviceGuard const guard(arrival_->device());
    check_cuda(cudaEventRecord(arrived_.get(), arriving_.get()), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(stream, arrived_.get(), 0), "cudaStreamWaitEvent");
  }
  addition_.enqueue(stream);
}

}  // namespace lanewise::hw
