#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "hw/storage/io_queue.hpp"

namespace lanewise::hw {
namespace {

// A thread for each request that can be under way.
class ThreadQueue : public IoQueue {
 public:
  ThreadQueue(DriveFile const& file, std::size_t depth) : file_(file) {
    for (std::size_t i = 0; i < depth; ++i) threads_.emplace_back([this](std::stop_token const& stop) { serve(stop); });
  }

  void begin(IoRequest const& request) override {
    {
      std::lock_guard const lock(mutex_);
      waiting_.push_back(request);
      ++under_way_;
    }
    begun_.notify_one();
  }

  void end(std::vector<std::size_t>& tags, Wait wait) override {
    std::optional<std::pair<IoRequest, std::int64_t>> failed;
    {
      std::unique_lock lock(mutex_);
      if (wait == Wait::ForOne && under_way_ > 0) ended_.wait(lock, [this] { return !results_.empty(); });
      for (auto const& [request, result] : results_) {
        tags.push_back(request.tag);
        if (!failed && !is_whole(request, result)) failed.emplace(request, result);
      }
      under_way_ -= results_.size();
      results_.clear();
    }
    if (failed) fail_io(file_, failed->first, failed->second);
  }

  [[nodiscard]] std::string_view name() const override { return "threads"; }

 private:
  void serve(std::stop_token const& stop) {
    std::unique_lock lock(mutex_);
    while (begun_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
      auto const request = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      auto const result = carry_out(request);
      lock.lock();
      results_.emplace_back(request, result);
      ended_.notify_one();
    }
  }

  [[nodiscard]] std::int64_t carry_out(IoRequest const& request) const {
    auto const bytes = static_cast<std::size_t>(request.bytes);
    for (;;) {
      auto const result = request.direction == IoDirection::FromDrive
                              ? pread(file_.descriptor(), request.memory, bytes, request.offset)
                              : pwrite(file_.descriptor(), request.memory, bytes, request.offset);
      if (result >= 0) return result;
      if (errno != EINTR) return -errno;
    }
  }

  DriveFile const& file_;
  std::mutex mutex_;
  std::condition_variable_any begun_;
  std::condition_variable ended_;
  std::deque<IoRequest> waiting_;
  std::vector<std::pair<IoRequest, std::int64_t>> results_;
  std::size_t under_way_ = 0;  // begun, and not given back by end()
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<IoQueue> make_thread_queue(DriveFile const& file, std::size_t depth) {
  return std::make_unique<ThreadQueue>(file, depth);
}

}  // namespace lanewise::hw
