#pragma once
// How the bytes of one step get from a drive to memory or back. Several chunks are under way at a time.
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/storage/drive_file.hpp"
#include "hw/storage/io_queue.hpp"

namespace lanewise::hw {

class StorageTransfer {
 public:
  StorageTransfer() = default;
  StorageTransfer(StorageTransfer const&) = delete;
  StorageTransfer& operator=(StorageTransfer const&) = delete;
  virtual ~StorageTransfer() = default;

  // Moves the whole range once. Throws DeviceError naming the file; after that it cannot be run again.
  virtual void run() = 0;
  // How the drive is asked: "io_uring", "threads", "cuFile".
  [[nodiscard]] virtual std::string_view queue_name() const = 0;
};

// How much is moved in one request and how many requests are under way, where the plan names no chunk: a drive of PCIe
// gen5 reads 14 GB/s with some 100 us of latency, so 1.4 MB must be under way at least, and several times that for all
// of its channels to have work.
inline constexpr Bytes kIoChunk = Bytes(std::int64_t{1} << 20);
inline constexpr std::size_t kIoDepth = 32;
inline constexpr Bytes kMaxIoBytes = Bytes(std::int64_t{1} << 30);  // of a request: Linux moves less than 2 GiB in one

// Between the drive and host memory, which the drive itself reads or writes. `memory` begins at a page.
std::unique_ptr<StorageTransfer> host_transfer(DriveRange const& range, IoDirection direction, std::byte* memory);

// Between the drive and other memory through a ring of chunks in host memory, `slots`, each of `chunk`. `copier` copies
// between that memory and the ring.
std::unique_ptr<StorageTransfer> staged_transfer(DriveRange const& range, IoDirection direction,
                                                 std::unique_ptr<Copier> copier, std::vector<std::byte*> slots,
                                                 Bytes chunk);

// How many slots of `chunk` a ring for `bytes` has: as many as hold kIoChunk * kIoDepth, but at least four, so that
// chunks are read, wait and are copied at the same time.
std::size_t ring_slots(Bytes bytes, Bytes chunk);

}  // namespace lanewise::hw
