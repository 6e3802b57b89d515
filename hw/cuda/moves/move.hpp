#pragma once
// How one step's bytes get from its source to its target on real devices: one class a family of mechanisms.
#include <memory>
#include <utility>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"
#include "hw/cuda/memory/device_buffer.hpp"

namespace lanewise::hw {

class SharedBuffers;

class Move {
 public:
  Move() = default;
  Move(Move const&) = delete;
  Move& operator=(Move const&) = delete;
  virtual ~Move() = default;

  // The device whose stream carries it.
  [[nodiscard]] virtual Device device() const = 0;
  // Enqueues it once behind what `stream` (of that device) holds; nothing else is asked of the host until it is done,
  // but for moves of the host, which a thread of their own does meanwhile.
  virtual void enqueue(cudaStream_t stream) = 0;
  // Whether the first that it needs is a copy engine.
  [[nodiscard]] virtual bool begins_with_copy() const { return false; }
  // Before every run: brings back what the last one changed beside the target, and forward what need not be timed.
  virtual void prepare() {}
  // Throws what a thread of its own caught.
  virtual void rethrow() {}
};

// A step with its two buffers (the same one where the step moves pages, none where it computes) and its move.
struct PreparedStep {
  std::unique_ptr<DeviceBuffer> source;
  std::unique_ptr<DeviceBuffer> target;   // empty: the source itself, whose pages move
  std::unique_ptr<DeviceBuffer> scratch;  // where bytes arrive that a kernel then adds to the target
  std::unique_ptr<Move> move;
  [[nodiscard]] DeviceBuffer& arrived() const { return target ? *target : *source; }
};

// Which pairs of devices must reach one another for a step, or must not.
struct PeerNeed {
  std::vector<std::pair<Device, Device>> open;
  std::vector<std::pair<Device, Device>> closed;
};
PeerNeed peer_need(Step const& step, Devices const& devices);

// Allocates the buffers, where they are not parts of `shared` (null: there are none), and everything between. Peer
// access must be as the step needs it. Throws PlanError for a step that this executor does not do, MissingError for one
// that this machine does not allow.
PreparedStep lay(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared);

}  // namespace lanewise::hw
