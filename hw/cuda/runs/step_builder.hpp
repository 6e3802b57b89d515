#pragma once
// Turns a step of a plan into buffers and a move on CUDA devices.
#include <memory>

#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/move.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// A step with its buffers and its move. A step that computes has no buffers; one that moves pages has only a source.
struct PreparedStep {
  std::unique_ptr<DeviceBuffer> source;
  std::unique_ptr<DeviceBuffer> target;   // empty: the source itself, whose pages move
  std::unique_ptr<DeviceBuffer> scratch;  // where bytes arrive that a kernel then adds to the target
  std::unique_ptr<Move> move;
  [[nodiscard]] DeviceBuffer& arrived() const { return target ? *target : *source; }
};

// Allocates what the step needs: buffers that are not parts of `shared` (null: the plan shares none), staging memory,
// streams and events of the move. Peer access must already be as the step needs it. Throws PlanError for a step that
// this executor does not run, MissingError for one that this machine does not allow.
PreparedStep build_step(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared);

}  // namespace lanewise::hw
