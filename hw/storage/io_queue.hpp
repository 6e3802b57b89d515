#pragma once
// Reads and writes of a drive's file of which many are under way at a time: by io_uring, or by threads where the kernel
// or a container has none.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "hw/storage/drive_file.hpp"

namespace lanewise::hw {

enum class IoDirection : std::uint8_t { FromDrive, ToDrive };

// Offset, length and address are multiples of the file's alignment.
struct IoRequest {
  IoDirection direction = IoDirection::FromDrive;
  std::byte* memory = nullptr;
  std::int64_t offset = 0;  // in the file
  std::int64_t bytes = 0;
  std::int64_t needed = 0;  // of these, of what is read: a file may end within its last block
  std::size_t tag = 0;      // what end() gives back
};

class IoQueue {
 public:
  enum class Wait : std::uint8_t { No, ForOne };

  IoQueue() = default;
  IoQueue(IoQueue const&) = delete;
  IoQueue& operator=(IoQueue const&) = delete;
  virtual ~IoQueue() = default;  // waits for what is under way

  // At most `depth` requests may be under way.
  virtual void begin(IoRequest const& request) = 0;
  // Appends the tags of requests that have ended since. Throws DeviceError naming the file where one failed.
  virtual void end(std::vector<std::size_t>& tags, Wait wait) = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "io_uring", "threads"
};

// The best that this kernel has. The file must outlive it.
std::unique_ptr<IoQueue> make_io_queue(DriveFile const& file, std::size_t depth);

// Each of them; nullptr: not in this build, or refused by the kernel.
std::unique_ptr<IoQueue> make_uring_queue(DriveFile const& file, std::size_t depth);
std::unique_ptr<IoQueue> make_thread_queue(DriveFile const& file, std::size_t depth);

// `result`: a number of bytes, or an error number below zero.
bool is_whole(IoRequest const& request, std::int64_t result);
[[noreturn]] void fail_io(DriveFile const& file, IoRequest const& request, std::int64_t result);

}  // namespace lanewise::hw
