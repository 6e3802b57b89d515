#pragma once
// How one step's bytes get from its source to its target on real devices. Each family of mechanisms has its class.
#include "hw/cuda/runtime/handles.hpp"

namespace lanewise::hw {

class Move {
 public:
  Move() = default;
  Move(Move const&) = delete;
  Move& operator=(Move const&) = delete;
  virtual ~Move() = default;

  // The device whose stream carries the move.
  [[nodiscard]] virtual Device device() const = 0;
  // Enqueues the move once behind what `stream` (of that device) holds. The host then has nothing to do until it has
  // ended, except in a HostMove, whose own thread does the work.
  virtual void enqueue(cudaStream_t stream) = 0;
  // How many commands enqueue() gives to the device's queues, at most.
  [[nodiscard]] virtual std::size_t commands() const { return 4; }
  // Whether a copy engine does its first part.
  [[nodiscard]] virtual bool begins_with_copy() const { return false; }
  // Called before every run: undoes what the last run changed apart from the target, and does what is not to be timed.
  virtual void prepare() {}
  // Throws what its own thread caught, if it has one.
  virtual void rethrow() {}
};

}  // namespace lanewise::hw
