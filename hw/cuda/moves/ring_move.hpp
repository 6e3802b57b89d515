#pragma once
// Through a memory in between: in a ring of chunks whose two legs overlap, or whole, one leg after the other.
#include <vector>

#include "hw/cuda/moves/move.hpp"

namespace lanewise::hw {

class RingMove : public Move {
 public:
  // `slots`: the memory in between, at least one; a chunk is a slot's size. The first leg is driven by `first`, the
  // second by `second`.
  RingMove(DeviceBuffer const& source, DeviceBuffer const& target, std::vector<DeviceBuffer> slots, Device first,
           Device second);
  [[nodiscard]] Device device() const override { return first_; }
  [[nodiscard]] bool begins_with_copy() const override { return true; }
  // One launch of a graph: the order of all chunks is known to the devices beforehand.
  void enqueue(cudaStream_t stream) override;
  // Brings the graph to the devices, so that a launch need not.
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
