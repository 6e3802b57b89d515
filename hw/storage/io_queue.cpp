#include "hw/storage/io_queue.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {

std::unique_ptr<IoQueue> make_io_queue(DriveFile const& file, std::size_t depth) {
  if (auto queue = make_uring_queue(file, depth)) return queue;
  return make_thread_queue(file, depth);
}

bool is_whole(IoRequest const& request, std::int64_t result) {
  return result >= (request.direction == IoDirection::FromDrive ? request.needed : request.bytes);
}

void fail_io(DriveFile const& file, IoRequest const& request, std::int64_t result) {
  bool const reads = request.direction == IoDirection::FromDrive;
  auto const what =
      fmt::format("{} {} bytes at {} of {}", reads ? "reading" : "writing", request.bytes, request.offset, file.path());
  if (result < 0) throw DeviceError(what, static_cast<int>(-result), std::strerror(static_cast<int>(-result)));
  throw DeviceError(what, reads ? ENODATA : ENOSPC,
                    reads ? fmt::format("the file ends after {} of them", result)
                          : fmt::format("only {} of them were written", result));
}

}  // namespace lanewise::hw
