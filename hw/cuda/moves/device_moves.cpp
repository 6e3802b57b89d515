#include "hw/cuda/moves/device_moves.hpp"

#include <cmath>
#include <utility>

#include "core/io/error.hpp"
#include "hw/cuda/cuda_error.hpp"

namespace lanewise::hw {
namespace {

void enqueue_prefetch(DeviceBuffer const& pages, PagePlace where, cudaStream_t stream) {
#if CUDART_VERSION >= 13000
  cudaMemLocation location{};
  location.type = where.on_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHostNuma;
  location.id = where.id;
  check_cuda(cudaMemPrefetchAsync(pages.data(), length(pages.bytes()), location, 0, stream), "cudaMemPrefetchAsync");
#else
  check_cuda(
      cudaMemPrefetchAsync(pages.data(), length(pages.bytes()), where.on_device ? where.id : cudaCpuDeviceId, stream),
      "cudaMemPrefetchAsync");
#endif
}

}  // namespace

void enqueue_copy(Piece const& piece, cudaStream_t stream) {
  auto* const to = static_cast<std::uint8_t*>(piece.target.data()) + piece.to_offset.value();
  auto const* const from = static_cast<std::uint8_t const*>(piece.source.data()) + piece.from_offset.value();
  // Addresses say which devices they are of, and unlike cudaMemcpyPeerAsync this can be captured into a graph.
  check_cuda(cudaMemcpyAsync(to, from, length(piece.bytes), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
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

void AddingMove::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(target_.device());
  launch_add(target_.data(), source_.data(), length(target_.bytes()), target_.shape(), stream);
}

ArrivalAndAddition::ArrivalAndAddition(std::unique_ptr<Move> arrival, DeviceBuffer const& arrived,
                                       DeviceBuffer const& target)
    : arrival_(std::move(arrival)),
      addition_(arrived, target),
      arriving_(make_stream(arrival_->device())),
      begin_(make_order_event(target.device())),
      arrived_(make_order_event(arrival_->device())) {}

void ArrivalAndAddition::enqueue(cudaStream_t stream) {
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

PageMove::PageMove(DeviceBuffer& pages, PagePlace from, PagePlace to, Device driver, KernelShape shape, Op op)
    : pages_(pages),
      from_(from),
      to_(to),
      driver_(driver),
      shape_(shape),
      op_(op),
      sink_(allocate_on(driver, Bytes(4))) {}

void PageMove::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(driver_);
  if (op_ == Op::Prefetch)
    enqueue_prefetch(pages_, to_, stream);
  else
    launch_touch(pages_.data(), static_cast<std::uint64_t>(pages_.bytes().value()),
                 static_cast<std::uint32_t*>(sink_.get()), shape_, stream);
}

void PageMove::prepare() { place_pages(pages_, from_, driver_); }

void place_pages(DeviceBuffer const& pages, PagePlace where, Device driver) {
  auto const stream = make_stream(driver);
  DeviceGuard const guard(driver);
  enqueue_prefetch(pages, where, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

}  // namespace lanewise::hw
