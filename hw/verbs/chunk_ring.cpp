#include "hw/verbs/chunk_ring.hpp"

#include <algorithm>

#include "hw/verbs/layout.hpp"

namespace lanewise::hw {

ChunkRing::ChunkRing(NetworkStep const& step, StepPart const& part)
    : step_(step), part_(part), chunks_(messages_of(step).count) {}

std::int64_t ChunkRing::length(std::int64_t chunk) const {
  return std::min(step_.chunk, step_.bytes - chunk * step_.chunk);
}

bool ChunkRing::copy_out() {
  bool moved = false;
  if (copying_ && part_.source->copied()) {
    copying_ = false;
    ++copied_;
    moved = true;
  }
  if (part_.ring != nullptr && !copying_ && copied_ < chunks_ && copied_ < acknowledged_ + step_.slots) {
    part_.source->begin_copy_out(part_.ring + copied_ % step_.slots * step_.chunk,
                                 static_cast<std::size_t>(copied_ * step_.chunk),
                                 static_cast<std::size_t>(length(copied_)));
    copying_ = true;
    moved = true;
  }
  return moved;
}

std::optional<WorkRequest> ChunkRing::next_write() {
  auto const ready = part_.ring != nullptr ? copied_ : chunks_;
  if (written_ >= ready || written_ >= taken_ + step_.slots) return std::nullopt;
  auto const chunk = written_++;
  auto const& ends = part_.endpoints[0];
  auto const offset = [&](bool in_ring) { return (in_ring ? chunk % step_.slots : chunk) * step_.chunk; };
  WorkRequest request;
  request.verb = Verb::Write;
  request.local = ends.local + offset(part_.ring != nullptr);
  request.local_key = ends.local_key;
  request.remote = ends.remote + static_cast<std::uint64_t>(offset(!step_.ring_to.empty()));
  request.remote_key = ends.remote_key;
  request.bytes = static_cast<std::uint32_t>(length(chunk));
  request.signalled = true;
  return request;
}

ChunkRing::Progress ChunkRing::take_next() {
  if (copying_) {
    if (!part_.target->copied()) return Progress::None;
    copying_ = false;
    ++taken_;
    return Progress::Taken;
  }
  if (taken_ == arrived_) return Progress::None;
  if (part_.ring == nullptr) {  // the chunk arrived where it belongs
    ++taken_;
    return Progress::Taken;
  }
  part_.target->begin_copy_in(part_.ring + taken_ % step_.slots * step_.chunk,
                              static_cast<std::size_t>(taken_ * step_.chunk), static_cast<std::size_t>(length(taken_)));
  copying_ = true;
  return Progress::CopyBegun;
}

}  // namespace lanewise::hw
