#pragma once
// Work that a CPU core does between two points of a stream: copies of memory that is not pinned, loads and stores
// through BAR1, page faults of the host.
#include <exception>
#include <functional>
#include <thread>

#include "hw/cuda/memory/host_flag.hpp"
#include "hw/cuda/moves/move.hpp"

namespace lanewise::hw {

class HostMove : public Move {
 public:
  // `work` runs on its own thread, on the cores of `numa`, each time a stream of `device` reaches the move.
  HostMove(Device device, NumaIndex numa, std::function<void()> work);
  HostMove(HostMove const&) = delete;
  HostMove& operator=(HostMove const&) = delete;
  ~HostMove() override;
  [[nodiscard]] Device device() const override { return device_; }
  void enqueue(cudaStream_t stream) override;
  void rethrow() override;

 private:
  void serve(std::stop_token const& stop, NumaIndex numa);

  enum Flag : std::size_t { kReached, kDone };
  Device device_;
  std::function<void()> work_;
  HostFlags flags_{2};
  std::uint32_t enqueued_ = 0;
  std::exception_ptr caught_;  // written before kDone is, read after
  std::jthread thread_;
};

}  // namespace lanewise::hw
