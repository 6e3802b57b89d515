// Which move a step's way is on CUDA.
#include <fmt/format.h>

#include "core/io/error.hpp"
#include "core/rules/conditions.hpp"
#include "hw/cuda/cuda_error.hpp"
#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/bar_copy.hpp"
#include "hw/cuda/moves/device_moves.hpp"
#include "hw/cuda/moves/host_move.hpp"
#include "hw/cuda/moves/move.hpp"
#include "hw/cuda/moves/ring_move.hpp"
#include "hw/memory/copying_cores.hpp"

namespace lanewise::hw {
namespace {

// Chunks in flight of a ring: one fills, one drains, and one each waits for its turn.
constexpr std::size_t kSlots = 4;

class Laying {
 public:
  Laying(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared)
      : step_(step), model_(model), machine_(model.machine()), devices_(devices), shared_(shared) {}

  PreparedStep lay() {
    if (step_.work > Seconds(0)) return computing();
    refuse_what_is_not_ours();
    if (migrates(step_.op)) return pages();
    laid_.source = buffer(step_.from, step_.reads);
    laid_.target = buffer(step_.to, step_.writes);
    if (step_.reduces)
      reducing();
    else
      laid_.move = move(*laid_.target);
    return std::move(laid_);
  }

 private:
  [[nodiscard]] std::optional<PciId> from_gpu() const { return gpu_at(machine_, step_.from); }
  [[nodiscard]] std::optional<PciId> to_gpu() const { return gpu_at(machine_, step_.to); }

  [[noreturn]] void refuse(std::string const& why) const {
    throw PlanError(fmt::format("step '{}' ({}): {}", step_.transfer, text_of(step_.way, machine_), why));
  }

  void refuse_what_is_not_ours() const {
    if (step_.reads.has_value() != step_.writes.has_value() || (step_.reduces && !step_.writes))
      refuse("it shares one buffer only; what should arrive is not known");
    if ((step_.reads || step_.writes) && migrates(step_.op)) refuse("pages of shared buffers do not move");
    if (step_.bytes <= Bytes(0)) refuse("there is nothing to move");
    if (step_.way.access.each > Bytes(0)) refuse("DMA in pieces is the device's own; copy engines do none");
    switch (step_.way.mechanism) {
      case Mechanism::Rdma:
      case Mechanism::Gdr:
      case Mechanism::GdrRelay:
      case Mechanism::NetStaged: refuse("the CUDA executor has no network");
      case Mechanism::StorageDirect:
      case Mechanism::StorageStaged: refuse("the CUDA executor has no drives");
      case Mechanism::PcieP2p:
        if (has_nvlink(machine_, *from_gpu(), *to_gpu()))
          refuse("CUDA takes NVLink between these GPUs; their PCIe path cannot be asked for");
        break;
      case Mechanism::SharedHost:
        if (step_.way.nic_from || step_.way.nic_to) refuse("the CUDA executor has no network");
        break;
      default: break;
    }
    if (!from_gpu() && !to_gpu() && devices_.all().empty()) refuse("no GPU is there to keep the time");
  }

  // The device that keeps the time of a step, and fills and checks host memory.
  [[nodiscard]] Device near() const {
    if (auto const gpu = from_gpu()) return devices_.of(*gpu);
    if (auto const gpu = to_gpu()) return devices_.of(*gpu);
    return devices_.all().front();
  }
  // The device that drives: a copy engine or a kernel of it.
  [[nodiscard]] bool is_pulled() const { return to_gpu() && (!from_gpu() || step_.way.drive == Drive::Pull); }
  [[nodiscard]] Device driver() const { return devices_.of(is_pulled() ? *to_gpu() : *from_gpu()); }
  [[nodiscard]] NumaIndex numa_of(Place const& place) const {
    auto const* numa = std::get_if<NumaId>(&place);
    return numa != nullptr ? NumaIndex(machine_.at(*numa).os_index) : std::nullopt;
  }
  // The host memory that a step touches, where it touches any.
  [[nodiscard]] NumaIndex host_node() const {
    if (auto const from = numa_of(step_.from)) return from;
    if (auto const to = numa_of(step_.to)) return to;
    return step_.way.staging ? numa_of(*step_.way.staging) : std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<DeviceBuffer> buffer(Place const& place, std::optional<Region> const& region) const {
    if (region) {
      if (shared_ == nullptr) refuse("the plan has no buffers to share");
      return std::make_unique<DeviceBuffer>(shared_->window(*region, step_.bytes));
    }
    auto const pages = std::holds_alternative<PciId>(place) ? Pages::Device
                       : step_.way.pageable                 ? Pages::Pageable
                                                            : Pages::Pinned;
    return std::make_unique<DeviceBuffer>(devices_, place, step_.bytes, pages, near());
  }

  [[nodiscard]] PreparedStep computing() {
    auto const device = devices_.of(step_.from);
    laid_.move = std::make_unique<Occupation>(device, devices_.shape(device), step_.work);
    return std::move(laid_);
  }

  // A kernel of the target reads what it adds where it is; by any other op the bytes arrive beside the target first.
  void reducing() {
    if (step_.op == Op::Read && direct_access()) {
      laid_.move = std::make_unique<AddingMove>(*laid_.source, *laid_.target);
      return;
    }
    laid_.scratch =
        std::make_unique<DeviceBuffer>(devices_, step_.to, step_.bytes, Pages::Device, devices_.of(step_.to));
    laid_.move = std::make_unique<ArrivalAndAddition>(move(*laid_.scratch), *laid_.scratch, *laid_.target);
  }
  [[nodiscard]] bool direct_access() const {
    return step_.way.mechanism == Mechanism::Local || step_.way.mechanism == Mechanism::Nvlink ||
           step_.way.mechanism == Mechanism::PcieP2p;
  }

  [[nodiscard]] std::unique_ptr<Move> move(DeviceBuffer& target) {
    switch (step_.way.mechanism) {
      case Mechanism::NvlinkRelay: return through_relay(target);
      case Mechanism::HostStaged:
        if (step_.way.by_driver) return std::make_unique<EngineCopy>(*laid_.source, target, near());
        return through_host(target, chunk());
      case Mechanism::SharedHost: return through_host(target, step_.bytes);
      case Mechanism::BarCopy: return std::make_unique<HostMove>(near(), host_node(), bar_copy(*laid_.source, target));
      default: return direct(target);
    }
  }

  [[nodiscard]] std::unique_ptr<Move> direct(DeviceBuffer& target) const {
    if (!from_gpu() && !to_gpu()) return host_copy(target);
    if (step_.way.pageable) return pageable_copy(target);
    if (by_kernel(step_.op)) return std::make_unique<KernelMove>(*laid_.source, target, driver(), shape(), step_.op);
    return std::make_unique<EngineCopy>(*laid_.source, target, driver());
  }

  // Blocks enough for what the links carry, so that kernels beside one another find room: one that fills every
  // multiprocessor keeps all others of its GPU waiting. An H200 writes as much by NVLink with 132 blocks as with 528.
  // Over PCIe 4 are enough alone, some more beside a kernel that fills the memory. More that write there only queue,
  // and requests to read wait behind them: of a copy the other way 6 leave 38 GB/s and 16 leave 31 (docs/hardware.md).
  [[nodiscard]] KernelShape shape() const {
    auto const whole = devices_.shape(driver());
    if (step_.op == Op::Atomic || step_.way.mechanism == Mechanism::Local) return whole;
    if (step_.way.mechanism != Mechanism::HostDma && step_.way.mechanism != Mechanism::PcieP2p)
      return {whole.multiprocessors, 1};
    constexpr int kReading = 16;
    constexpr int kWriting = 6;
    return {std::min(is_pulled() ? kReading : kWriting, whole.multiprocessors), 1};
  }

  [[nodiscard]] std::unique_ptr<Move> host_copy(DeviceBuffer& target) const {
    auto const cores = std::make_shared<CopyingCores>(step_.way.cores, host_node());
    return std::make_unique<HostMove>(near(), host_node(), [cores, &from = *laid_.source, &to = target] {
      cores->copy(to.data(), from.data(), from.bytes());
    });
  }

  // The driver copies memory that is not pinned with the calling core, so a thread of its own calls it.
  [[nodiscard]] std::unique_ptr<Move> pageable_copy(DeviceBuffer& target) const {
    auto const stream = std::make_shared<Stream>(make_stream(driver()));
    return std::make_unique<HostMove>(driver(), host_node(), [stream, &from = *laid_.source, &to = target] {
      enqueue_copy({to, Bytes(0), from, Bytes(0), from.bytes()}, stream->get());
      check_cuda(cudaStreamSynchronize(stream->get()), "cudaStreamSynchronize");
    });
  }

  // The way's own chunk, or the model's best where the way leaves it open.
  [[nodiscard]] Bytes chunk() const {
    auto const chosen = model_.lower(step_.from, step_.to, step_.bytes, step_.op, step_.way).chunk;
    return chosen > Bytes(0) ? std::min(chosen, step_.bytes) : step_.bytes;
  }

  [[nodiscard]] std::unique_ptr<Move> through(DeviceBuffer& target, Place const& memory, Bytes chunk, Pages pages,
                                              Device second) const {
    std::vector<DeviceBuffer> slots;
    auto const chunks = static_cast<std::size_t>((step_.bytes.value() + chunk.value() - 1) / chunk.value());
    for (std::size_t i = 0; i < std::min(kSlots, chunks); ++i)
      slots.emplace_back(devices_, memory, chunk, pages, near());
    return std::make_unique<RingMove>(*laid_.source, target, std::move(slots), devices_.of(step_.from), second);
  }
  [[nodiscard]] std::unique_ptr<Move> through_host(DeviceBuffer& target, Bytes chunk) const {
    return through(target, *step_.way.staging, chunk, Pages::Pinned, devices_.of(step_.to));
  }
  [[nodiscard]] std::unique_ptr<Move> through_relay(DeviceBuffer& target) const {
    if (!step_.way.relay) refuse("the way names no relay");
    return through(target, *step_.way.relay, chunk(), Pages::Device, devices_.of(*step_.way.relay));
  }

  // ---------------------------------------------------------------------------------------------------- Unified Memory

  [[nodiscard]] PagePlace page_place(Place const& place) const {
    if (std::holds_alternative<PciId>(place)) return {true, ordinal(devices_.of(place))};
    return {false, machine_.at(std::get<NumaId>(place)).os_index};
  }

  [[nodiscard]] PreparedStep pages() {
    int managed = 0;
    check_cuda(cudaDeviceGetAttribute(&managed, cudaDevAttrConcurrentManagedAccess, ordinal(near())),
               "cudaDeviceGetAttribute");
    if (managed == 0) throw MissingError("Unified Memory does not migrate by faults on this system");
    laid_.source = std::make_unique<DeviceBuffer>(devices_, Place(*(from_gpu() ? from_gpu() : to_gpu())), step_.bytes,
                                                  Pages::Managed, near());
    auto const to_host = !to_gpu();
    auto const device = to_host ? near() : devices_.of(step_.to);
    if (to_host && step_.op == Op::Fault) {
      laid_.move = host_faults(device);
      return std::move(laid_);
    }
    laid_.move = std::make_unique<PageMove>(*laid_.source, page_place(step_.from), page_place(step_.to), device,
                                            devices_.shape(device), step_.op);
    return std::move(laid_);
  }

  // The CPU reads one word of every page.
  [[nodiscard]] std::unique_ptr<Move> host_faults(Device device) const {
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
    return std::make_unique<HostFaults>(device, numa_of(step_.to), *laid_.source, page_place(step_.from));
  }

  Step const& step_;
  Model const& model_;
  Machine const& machine_;
  Devices& devices_;
  SharedBuffers const* shared_;
  PreparedStep laid_;
};

}  // namespace

PeerNeed peer_need(Step const& step, Devices const& devices) {
  PeerNeed need;
  auto const& machine = devices.machine();
  auto const from = gpu_at(machine, step.from);
  auto const to = gpu_at(machine, step.to);
  if (!from || !to || *from == *to) return need;
  auto const both_ways = [](std::vector<std::pair<Device, Device>>& pairs, Device a, Device b) {
    pairs.emplace_back(a, b);
    pairs.emplace_back(b, a);
  };
  auto const a = devices.of(*from);
  auto const b = devices.of(*to);
  switch (step.way.mechanism) {
    case Mechanism::Nvlink:
    case Mechanism::PcieP2p: both_ways(need.open, a, b); break;
    case Mechanism::NvlinkRelay:
      if (!step.way.relay) break;
      both_ways(need.open, a, devices.of(*step.way.relay));
      both_ways(need.open, devices.of(*step.way.relay), b);
      break;
    case Mechanism::HostStaged:
      if (step.way.by_driver) both_ways(need.closed, a, b);
      break;
    default: break;
  }
  return need;
}

PreparedStep lay(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared) {
  return Laying(step, model, devices, shared).lay();
}

}  // namespace lanewise::hw
