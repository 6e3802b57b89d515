#include "hw/storage/io_queue.hpp"

namespace lanewise::hw {

std::unique_ptr<IoQueue> make_uring_queue(DriveFile const& /*file*/, std::size_t /*depth*/) { return nullptr; }

}  // namespace lanewise::hw
