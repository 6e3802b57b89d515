#include "hw/cuda/moves/page_moves.hpp"

#include "hw/cuda/moves/host_move.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"

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

// Moves the pages and waits for them.
void place_pages(DeviceBuffer const& pages, PagePlace where, Device driver) {
  auto const stream = make_stream(driver);
  DeviceGuard const guard(driver);
  enqueue_prefetch(pages, where, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

class HostFaults : public HostMove {
 public:
  HostFaults(Device driver, NumaIndex numa, DeviceBuffer const& pages, PagePlace from)
      : HostMove(driver, numa, [&pages] { read_pages(pages); }), driver_(driver), pages_(pages), from_(from) {}
  void prepare() override { place_pages(pages_, from_, driver_); }

 private:
  static void read_pages(DeviceBuffer const& pages) {
    constexpr std::int64_t kPage = 4096;
    auto const* const bytes = static_cast<std::uint8_t const volatile*>(pages.data());
    for (std::int64_t i = 0; i < pages.bytes().value(); i += kPage) static_cast<void>(bytes[i]);
  }
  Device driver_;
  DeviceBuffer const& pages_;
  PagePlace from_;
};

}  // namespace

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

std::unique_ptr<Move> host_fault_move(Device driver, NumaIndex numa, DeviceBuffer const& pages, PagePlace from) {
  return std::make_unique<HostFaults>(driver, numa, pages, from);
}

}  // namespace lanewise::hw
