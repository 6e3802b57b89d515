#pragma once
// Turns a step of a plan into buffers and a move on CUDA devices.
#include <cstdint>
#include <memory>
#include <optional>

#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/move.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// A step with its buffers and its move. A step that computes has no buffers; one that moves pages has only a source;
// one that reads or writes a drive has a range of it for one of the two.
struct PreparedStep {
  std::unique_ptr<DeviceBuffer> source;
  std::unique_ptr<DeviceBuffer> target;   // empty: the source itself, whose pages move
  std::unique_ptr<DeviceBuffer> scratch;  // where bytes arrive that a kernel then adds to the target
  std::optional<DriveRange> from_drive, to_drive;
  std::unique_ptr<Move> move;

  // Of a step with memory of its own. They return when the work is done.
  void fill(std::uint64_t seed) const;  // the source; a user's file keeps what it holds
  void clear() const;                   // the target
  // The first wrong byte that arrived.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const;
};

// Allocates what the step needs: buffers that are not parts of `shared` (null: the plan shares none), staging memory,
// streams and events of the move. Peer access must already be as the step needs it. Throws PlanError for a step that
// this executor does not run, MissingError for one that this machine does not allow. `drive`: of a step with a drive.
PreparedStep build_step(Step const& step, Model const& model, Devices& devices, SharedBuffers const* shared,
                        std::optional<StepDrive> const& drive);

}  // namespace lanewise::hw
