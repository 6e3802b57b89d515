#include "hw/network/chunk_ring.hpp"

#include <algorithm>

#include "hw/network/layout.hpp"

namespace lanewise::hw {

ChunkRing::ChunkRing(NetworkStep const& step, StepPart const& part)
    : step_(step), part_(part), chunks_(messages_of(step).count) {
  if (part_.ring != nullptr) copied_before_ = copied();
}

std::int64_t ChunkRing::length(std::int64_t chunk) const {
  return std::min(step_.chunk, step_.bytes - chunk * step_.chunk);
}

std::int64_t ChunkRing::copied() const {
  auto* const copier = part_.source.copier != nullptr ? part_.source.copier : part_.target.copier;
  return copier->completed() - copied_before_;
}

bool ChunkRing::copy_out() {
  if (part_.ring == nullptr) return false;
  bool moved = false;
  if (auto const copied = this->copied(); copied > copied_) {
    copied_ = copied;
    moved = true;
  }
  if (begun_ < chunks_ && begun_ < acknowledged_ + step_.slots) {
    part_.source.copier->copy_out(part_.ring + begun_ % step_.slots * step_.chunk,
                                  part_.source.offset + static_cast<std::size_t>(begun_ * step_.chunk),
                                  static_cast<std::size_t>(length(begun_)));
    ++begun_;
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
  if (part_.ring == nullptr) {  // chunks arrive where they belong
    if (taken_ == arrived_) return Progress::None;
    ++taken_;
    return Progress::Taken;
  }
  bool const begins = begun_ < arrived_;
  if (begins) {
    auto const* const arrived = part_.ring + begun_ % step_.slots * step_.chunk;
    auto const at = part_.target.offset + static_cast<std::size_t>(begun_ * step_.chunk);
    auto const bytes = static_cast<std::size_t>(length(begun_));
    if (step_.reduces)
      part_.target.copier->add(arrived, at, bytes);
    else
      part_.target.copier->copy_in(arrived, at, bytes);
    ++begun_;
  }
  if (taken_ < begun_ && copied() > taken_) {
    ++taken_;
    return Progress::Taken;
  }
  return begins ? Progress::CopyBegun : Progress::None;
}

}  // namespace lanewise::hw
