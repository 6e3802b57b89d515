#pragma once
// A move through intermediate memory: a ring of chunks whose two legs overlap, or with a single chunk one leg after the
// other.
#include <vector>

#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/cuda/moves/move.hpp"

namespace lanewise::hw {

class RingMove : public Move {
 public:
  // `slots`: the intermediate memory, at least one slot; a chunk has the size of a slot. `first` drives the first leg,
  // `second` the second.
  RingMove(DeviceBuffer const& source, DeviceBuffer const& target, std::vector<DeviceBuffer> slots, Device first,
           Device second);
  [[nodiscard]] Device device() const override { return first_; }
  [[nodiscard]] bool begins_with_copy() const override { return true; }
  // A copy, its event and its wait at both legs of every chunk.
  [[nodiscard]] std::size_t commands() const override {
    auto const chunk = slots_.front().bytes().value();
    return 6 * static_cast<std::size_t>((source_.bytes().value() + chunk - 1) / chunk);
  }
  // Launches a graph, so that the devices know the order of all chunks beforehand.
  void enqueue(cudaStream_t stream) override;
  // Uploads the graph to the devices before it is timed.
  void prepare() override;

 private:
  [[nodiscard]] Graph record();

  DeviceBuffer const& source_;
  DeviceBuffer const& target_;
  std::vector<DeviceBuffer> slots_;
  Device first_, second_;
  Graph graph_;
};

}  // namespace lanewise::hw
