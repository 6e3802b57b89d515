#include <fmt/format.h>
#include <liburing.h>

#include <cstring>
#include <optional>
#include <utility>

#include "hw/storage/io_queue.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

class UringQueue : public IoQueue {
 public:
  UringQueue(DriveFile const& file, std::size_t depth) : file_(file), slots_(depth) {
    for (std::size_t i = depth; i-- > 0;) free_.push_back(i);
    error_ = io_uring_queue_init(static_cast<unsigned>(depth), &ring_, 0);
  }
  UringQueue(UringQueue const&) = delete;
  UringQueue& operator=(UringQueue const&) = delete;
  ~UringQueue() override {
    if (error_ != 0) return;
    std::vector<std::size_t> tags;
    while (free_.size() < slots_.size()) {  // memory under way must stay until the device has written it
      auto const before = free_.size();
      try {
        end(tags, Wait::ForOne);
      } catch (Error const&) {  // the caller has seen the first failure
        if (free_.size() == before) break;
      }
    }
    io_uring_queue_exit(&ring_);
  }

  // Below zero, as error numbers are: the kernel refuses.
  [[nodiscard]] int error() const { return error_; }

  void begin(IoRequest const& request) override {
    auto const slot = free_.back();
    free_.pop_back();
    slots_[slot] = request;
    auto* const entry = io_uring_get_sqe(&ring_);  // there is one for every slot
    auto const bytes = static_cast<unsigned>(request.bytes);
    auto const offset = static_cast<std::uint64_t>(request.offset);
    if (request.direction == IoDirection::FromDrive)
      io_uring_prep_read(entry, file_.descriptor(), request.memory, bytes, offset);
    else
      io_uring_prep_write(entry, file_.descriptor(), request.memory, bytes, offset);
    entry->user_data = slot;
    ++unsubmitted_;
  }

  void end(std::vector<std::size_t>& tags, Wait wait) override {
    bool const must_wait = wait == Wait::ForOne && free_.size() < slots_.size();
    if (unsubmitted_ > 0 || must_wait) {
      auto const submitted = io_uring_submit_and_wait(&ring_, must_wait ? 1 : 0);
      if (submitted < 0 && submitted != -EINTR && submitted != -EAGAIN && submitted != -EBUSY)
        throw DeviceError("io_uring_enter", -submitted, std::strerror(-submitted));
      if (submitted > 0) unsubmitted_ -= static_cast<std::size_t>(submitted);
    }
    io_uring_cqe* entry = nullptr;
    std::optional<std::pair<IoRequest, std::int64_t>> failed;
    while (io_uring_peek_cqe(&ring_, &entry) == 0) {
      auto const slot = static_cast<std::size_t>(entry->user_data);
      auto const result = entry->res;
      io_uring_cqe_seen(&ring_, entry);
      auto const& request = slots_[slot];
      free_.push_back(slot);
      if (result == -EAGAIN || result == -EINTR) {
        begin(IoRequest(request));
        continue;
      }
      tags.push_back(request.tag);
      if (!failed && !is_whole(request, result)) failed.emplace(request, result);
    }
    if (failed) fail_io(file_, failed->first, failed->second);
  }

  [[nodiscard]] std::string_view name() const override { return "io_uring"; }

 private:
  DriveFile const& file_;
  std::vector<IoRequest> slots_;
  std::vector<std::size_t> free_;
  std::size_t unsubmitted_ = 0;
  io_uring ring_{};
  int error_ = 0;
};

}  // namespace

std::unique_ptr<IoQueue> make_uring_queue(DriveFile const& file, std::size_t depth) {
  auto queue = std::make_unique<UringQueue>(file, depth);
  if (queue->error() != 0) return nullptr;
  return queue;
}

}  // namespace lanewise::hw
