#include "hw/cuda/runs/step_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/rules/conditions.hpp"
#include "hw/cuda/memory/stream_copier.hpp"
#include "hw/cuda/moves/bar_copy.hpp"
#include "hw/cuda/moves/device_moves.hpp"
#include "hw/cuda/moves/host_move.hpp"
#include "hw/cuda/moves/page_moves.hpp"
#include "hw/cuda/moves/ring_move.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/memory/copying_cores.hpp"
#include "hw/program/plan_check.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Chunks of a ring in flight: one is filled, one is drained, and one waits at each end.
constexpr std::size_t kRingSlots = 4;

// What a user's file holds is not known beforehand: it is read once more, by the operating system.
std::optional<Mismatch> mismatch_with_file(DriveRange const& range, DeviceBuffer const& arrived) {
  constexpr std::int64_t kBlock = std::int64_t{8} << 20;
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(kBlock, range.bytes().value())));
  for (std::int64_t at = 0; at < range.bytes().value(); at += kBlock) {
    auto const bytes = std::min(kBlock, range.bytes().value() - at);
    check_cuda(cudaMemcpy(block.data(), static_cast<std::byte const*>(arrived.data()) + at,
                          static_cast<std::size_t>(bytes), cudaMemcpyDefault),
               "cudaMemcpy");
    if (auto const wrong = range.mismatch(block.data(), at, bytes)) return wrong;
  }
  return std::nullopt;
}

class StepBuilder {
 public:
  StepBuilder(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared,
              std::optional<StepDrive> const& drive)
      : step_(step), model_(model), machine_(model.machine()), devices_(devices), shared_(shared), drive_(drive) {}

  PreparedStep build() {
    if (step_.work > Seconds(0)) return compute_step();
    refuse_unsupported();
    if (drive_) return drive_step();
    if (migrates(step_.op)) return page_step();
    prepared_.source = buffer(step_.from, step_.reads);
    prepared_.target = buffer(step_.to, step_.writes);
    if (step_.reduces)
      add_reduction();
    else
      prepared_.move = move(*prepared_.target);
    return std::move(prepared_);
  }

 private:
  [[nodiscard]] std::optional<PciId> from_gpu() const { return gpu_at(machine_, step_.from); }
  [[nodiscard]] std::optional<PciId> to_gpu() const { return gpu_at(machine_, step_.to); }

  [[noreturn]] void refuse(std::string const& why) const { refuse_step(step_, machine_, why); }

  void refuse_unsupported() const {
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
      case Mechanism::StorageStaged:
        if (step_.way.nic_from || step_.way.nic_to) refuse("the CUDA executor has no network");
        if (!drive_) refuse("of PCIe devices only NVMe drives are run");
        break;
      case Mechanism::PcieP2p:
        if (has_nvlink(machine_, *from_gpu(), *to_gpu()))
          refuse("CUDA takes NVLink between these GPUs; their PCIe path cannot be asked for");
        break;
      case Mechanism::SharedHost:
        if (step_.way.nic_from || step_.way.nic_to) refuse("the CUDA executor has no network");
        break;
      default: break;
    }
    if (drive_ && (step_.reads || step_.writes || step_.reduces)) refuse("the buffers of a collective are in memory");
    if (!from_gpu() && !to_gpu() && devices_.all().empty()) refuse("no GPU is there to keep the time");
  }

  // The device that times the step, and fills and checks its host memory.
  [[nodiscard]] Device nearest_device() const {
    if (auto const gpu = from_gpu()) return devices_.of(*gpu);
    if (auto const gpu = to_gpu()) return devices_.of(*gpu);
    return devices_.all().front();
  }
  // The device whose copy engine or kernel drives the move.
  [[nodiscard]] bool is_pulled() const { return to_gpu() && (!from_gpu() || step_.way.drive == Drive::Pull); }
  [[nodiscard]] Device driver() const { return devices_.of(is_pulled() ? *to_gpu() : *from_gpu()); }
  [[nodiscard]] NumaIndex numa_of(Place const& place) const {
    auto const* numa = std::get_if<NumaId>(&place);
    return numa != nullptr ? NumaIndex(machine_.at(*numa).os_index) : std::nullopt;
  }
  // The NUMA node of the host memory that the step touches, where it touches any.
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
    return std::make_unique<DeviceBuffer>(devices_, place, step_.bytes, pages, nearest_device());
  }

  [[nodiscard]] PreparedStep compute_step() {
    auto const device = devices_.of(step_.from);
    prepared_.move = std::make_unique<Occupation>(device, devices_.shape(device), step_.work);
    return std::move(prepared_);
  }

  // Op::Read: a kernel of the target reads what it adds from where it is. With any other op the bytes first arrive in a
  // scratch buffer beside the target.
  void add_reduction() {
    if (step_.op == Op::Read && reads_in_place()) {
      prepared_.move = std::make_unique<AddMove>(*prepared_.source, *prepared_.target);
      return;
    }
    prepared_.scratch =
        std::make_unique<DeviceBuffer>(devices_, step_.to, step_.bytes, Pages::Device, devices_.of(step_.to));
    prepared_.move = std::make_unique<CopyThenAdd>(move(*prepared_.scratch), *prepared_.scratch, *prepared_.target);
  }
  [[nodiscard]] bool reads_in_place() const {
    return step_.way.mechanism == Mechanism::Local || step_.way.mechanism == Mechanism::Nvlink ||
           step_.way.mechanism == Mechanism::PcieP2p;
  }

  [[nodiscard]] std::unique_ptr<Move> move(DeviceBuffer& target) {
    switch (step_.way.mechanism) {
      case Mechanism::NvlinkRelay: return relay_move(target);
      case Mechanism::HostStaged:
        if (step_.way.by_driver) return std::make_unique<EngineCopy>(*prepared_.source, target, nearest_device());
        return host_staged_move(target, chunk());
      case Mechanism::SharedHost: return host_staged_move(target, step_.bytes);
      case Mechanism::BarCopy:
        return std::make_unique<HostMove>(nearest_device(), host_node(), bar_copy(*prepared_.source, target));
      default: return direct_move(target);
    }
  }

  [[nodiscard]] std::unique_ptr<Move> direct_move(DeviceBuffer& target) const {
    if (!from_gpu() && !to_gpu()) return host_copy(target);
    if (step_.way.pageable) return pageable_copy(target);
    if (by_kernel(step_.op))
      return std::make_unique<KernelMove>(*prepared_.source, target, driver(), shape(), step_.op);
    return std::make_unique<EngineCopy>(*prepared_.source, target, driver());
  }

  // Just enough blocks to fill the links: a kernel that fills every multiprocessor would keep all other kernels of its
  // GPU waiting. Over NVLink an H200 writes as much with 132 blocks as with 528. Over PCIe 4 blocks are enough alone, a
  // few more beside a kernel that fills the memory. Further writing blocks only queue, and read requests wait behind
  // them: beside 6 writing blocks a copy the other way reaches 38 GB/s, beside 16 it reaches 31 GB/s
  // (docs/hardware.md).
  [[nodiscard]] KernelShape shape() const {
    auto const whole = devices_.shape(driver());
    if (step_.op == Op::Atomic || step_.way.mechanism == Mechanism::Local) return whole;
    if (step_.way.mechanism != Mechanism::HostDma && step_.way.mechanism != Mechanism::PcieP2p)
      return {whole.multiprocessors, 1};
    constexpr int kBlocksThatRead = 16;
    constexpr int kBlocksThatWrite = 6;
    return {std::min(is_pulled() ? kBlocksThatRead : kBlocksThatWrite, whole.multiprocessors), 1};
  }

  [[nodiscard]] std::unique_ptr<Move> host_copy(DeviceBuffer& target) const {
    auto const cores = std::make_shared<CopyingCores>(step_.way.cores, host_node());
    return std::make_unique<HostMove>(nearest_device(), host_node(), [cores, &from = *prepared_.source, &to = target] {
      cores->copy(to.data(), from.data(), from.bytes());
    });
  }

  // The driver copies memory that is not pinned on the calling core, so the copy gets a thread of its own.
  [[nodiscard]] std::unique_ptr<Move> pageable_copy(DeviceBuffer& target) const {
    auto const stream = std::make_shared<Stream>(make_stream(driver()));
    return std::make_unique<HostMove>(driver(), host_node(), [stream, &from = *prepared_.source, &to = target] {
      enqueue_copy({to, Bytes(0), from, Bytes(0), from.bytes()}, stream->get());
      check_cuda(cudaStreamSynchronize(stream->get()), "cudaStreamSynchronize");
    });
  }

  // ------------------------------------------------------------------------------------------------------------ drives

  // What moves a drive's bytes, with the host memory that they pass through.
  struct DriveTransfer {
    std::optional<HostMemory> ring;
    std::unique_ptr<StorageTransfer> transfer;
  };

  // The stream wakes a thread beside the host memory, which waits for the drive, and goes on when that is done.
  [[nodiscard]] PreparedStep drive_step() {
    bool const from_drive = is_drive(machine_, step_.from);
    auto const& memory = from_drive ? step_.to : step_.from;
    auto made = buffer(memory, std::nullopt);
    auto const transfer = std::make_shared<DriveTransfer>(
        drive_transfer(*made, from_drive ? IoDirection::FromDrive : IoDirection::ToDrive));
    (from_drive ? prepared_.target : prepared_.source) = std::move(made);
    (from_drive ? prepared_.from_drive : prepared_.to_drive) = drive_->range;
    prepared_.move =
        std::make_unique<HostMove>(nearest_device(), host_node(), [transfer] { transfer->transfer->run(); });
    return std::move(prepared_);
  }

  [[nodiscard]] DriveTransfer drive_transfer(DeviceBuffer const& memory, IoDirection direction) const {
    auto const& range = drive_->range;
    DeviceGuard const guard(memory.device());
    if (step_.way.mechanism == Mechanism::StorageDirect) {
      drive_->drives.note(drive_->drive, drive_->drives.is_direct(drive_->drive) ? kDirect : kInCompatibilityMode);
      return {std::nullopt,
              drive_->drives.cufile().transfer(range, direction, memory.data(), [device = memory.device()] {
                check_cuda(cudaSetDevice(ordinal(device)), "cudaSetDevice");
              })};
    }
    auto const queue_name = [&](auto const& made) {
      drive_->drives.note(drive_->drive, std::string(made->queue_name()));
    };
    if (step_.way.mechanism == Mechanism::HostDma) {
      auto made = host_transfer(range, direction, static_cast<std::byte*>(memory.data()));
      queue_name(made);
      return {std::nullopt, std::move(made)};
    }
    Bytes const chunk_bytes(range.file().whole_blocks(std::min(chunk(), kMaxIoBytes).value()));
    auto const count = ring_slots(step_.bytes, chunk_bytes);
    HostMemory ring(Bytes(chunk_bytes.value() * static_cast<std::int64_t>(count)), host_node(),
                    HostMemory::Kind::Pinned);
    std::vector<std::byte*> slots;
    for (std::size_t i = 0; i < count; ++i)
      slots.push_back(static_cast<std::byte*>(ring.data()) + i * static_cast<std::size_t>(chunk_bytes.value()));
    auto made =
        staged_transfer(range, direction, make_stream_copier(memory.device(), static_cast<std::byte*>(memory.data())),
                        std::move(slots), chunk_bytes);
    queue_name(made);
    return {std::move(ring), std::move(made)};
  }

  // The chunk that the way names, else the one that the model finds best.
  [[nodiscard]] Bytes chunk() const {
    auto const chosen = model_.lower(step_.from, step_.to, step_.bytes, step_.op, step_.way).chunk;
    return chosen > Bytes(0) ? std::min(chosen, step_.bytes) : step_.bytes;
  }

  [[nodiscard]] std::unique_ptr<Move> ring_move(DeviceBuffer& target, Place const& memory, Bytes chunk, Pages pages,
                                                Device second) const {
    std::vector<DeviceBuffer> slots;
    auto const chunks = static_cast<std::size_t>((step_.bytes.value() + chunk.value() - 1) / chunk.value());
    for (std::size_t i = 0; i < std::min(kRingSlots, chunks); ++i)
      slots.emplace_back(devices_, memory, chunk, pages, nearest_device());
    return std::make_unique<RingMove>(*prepared_.source, target, std::move(slots), devices_.of(step_.from), second);
  }
  [[nodiscard]] std::unique_ptr<Move> host_staged_move(DeviceBuffer& target, Bytes chunk) const {
    return ring_move(target, *step_.way.staging, chunk, Pages::Pinned, devices_.of(step_.to));
  }
  [[nodiscard]] std::unique_ptr<Move> relay_move(DeviceBuffer& target) const {
    if (!step_.way.relay) refuse("the way names no relay");
    return ring_move(target, *step_.way.relay, chunk(), Pages::Device, devices_.of(*step_.way.relay));
  }

  [[nodiscard]] PagePlace page_place(Place const& place) const {
    if (std::holds_alternative<PciId>(place)) return {true, ordinal(devices_.of(place))};
    return {false, machine_.at(std::get<NumaId>(place)).os_index};
  }

  [[nodiscard]] PreparedStep page_step() {
    int managed = 0;
    check_cuda(cudaDeviceGetAttribute(&managed, cudaDevAttrConcurrentManagedAccess, ordinal(nearest_device())),
               "cudaDeviceGetAttribute");
    if (managed == 0) throw MissingError("Unified Memory does not migrate by faults on this system");
    prepared_.source = std::make_unique<DeviceBuffer>(devices_, Place(*(from_gpu() ? from_gpu() : to_gpu())),
                                                      step_.bytes, Pages::Managed, nearest_device());
    auto const to_host = !to_gpu();
    auto const device = to_host ? nearest_device() : devices_.of(step_.to);
    if (to_host && step_.op == Op::Fault) {
      prepared_.move = host_fault_move(device, numa_of(step_.to), *prepared_.source, page_place(step_.from));
      return std::move(prepared_);
    }
    prepared_.move = std::make_unique<PageMove>(*prepared_.source, page_place(step_.from), page_place(step_.to), device,
                                                devices_.shape(device), step_.op);
    return std::move(prepared_);
  }

  Step const& step_;
  Model const& model_;
  Machine const& machine_;
  Devices& devices_;
  SharedBuffers const* shared_;
  std::optional<StepDrive> const& drive_;
  PreparedStep prepared_;
};

}  // namespace

PreparedStep build_step(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared,
                        std::optional<StepDrive> const& drive) {
  return StepBuilder(step, model, devices, shared, drive).build();
}

void PreparedStep::fill(std::uint64_t seed) const {
  if (from_drive) return from_drive->fill(seed);
  source->fill(seed);
}

void PreparedStep::clear() const {
  if (to_drive) return to_drive->clear();
  if (!target) return;
  if (from_drive && !from_drive->file().is_ours()) return target->fill(kNotOfAFile);
  target->clear();
}

std::optional<Mismatch> PreparedStep::mismatch(std::uint64_t seed) const {
  if (to_drive) return to_drive->mismatch(seed);
  if (from_drive && !from_drive->file().is_ours()) return mismatch_with_file(*from_drive, *target);
  return (target ? *target : *source).mismatch(seed);
}

}  // namespace lanewise::hw
