#pragma once
// A step whose bytes go chunk by chunk through a ring, at the source, at the target or at both, because a NIC cannot
// reach the memory there. Each end has its own object and learns of the other's progress by notifications.
#include <cstdint>
#include <optional>

#include "hw/network/network_plan.hpp"
#include "hw/network/step_part.hpp"
#include "hw/network/transport.hpp"

namespace lanewise::hw {

class ChunkRing {
 public:
  // Both must outlive this.
  ChunkRing(NetworkStep const& step, StepPart const& part);

  // At the source. A chunk may be copied into a slot once the chunk that was there before has been acknowledged, and
  // written once the target's slot is free.
  //
  // Goes on with copies into the ring. True when one ended or began.
  bool copy_out();
  // The write of the next chunk; nullopt when none may be written now.
  std::optional<WorkRequest> next_write();
  void write_acknowledged() { ++acknowledged_; }
  void chunk_taken() { ++taken_; }
  [[nodiscard]] bool is_sent() const { return taken_ == chunks_ && acknowledged_ == chunks_; }

  // At the target.
  void chunk_arrived() { ++arrived_; }
  enum class Progress : std::uint8_t { None, CopyBegun, Taken };
  // Takes the next chunk out of the ring. Taken: a slot is free again, and the source must be notified.
  Progress take_next();
  [[nodiscard]] bool all_taken() const { return taken_ == chunks_; }

 private:
  [[nodiscard]] std::int64_t length(std::int64_t chunk) const;
  // Of the copies begun, how many have ended.
  [[nodiscard]] std::int64_t copied() const;

  NetworkStep const& step_;
  StepPart const& part_;
  std::int64_t chunks_;
  std::int64_t copied_before_ = 0;               // copies that this end's copier had made before
  std::int64_t begun_ = 0;                       // copies into the ring, or out of it
  std::int64_t copied_ = 0;                      // of them ended
  std::int64_t written_ = 0, acknowledged_ = 0;  // at the source
  std::int64_t arrived_ = 0;                     // at the target
  std::int64_t taken_ = 0;                       // by the target, as far as this end knows
};

}  // namespace lanewise::hw
