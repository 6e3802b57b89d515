#pragma once
// The least time of a step that moves a piece of a transfer one way, in chunks of any size up to that which suits the
// whole transfer. Bounds use it: a piece holds its engines that long.
#include <optional>

#include "core/planner/transfer_options.hpp"

namespace lanewise {

class PieceTime {
 public:
  PieceTime(Model const& model, OpenTransfer const& transfer, TransferOption const& option);

  // No piece of b bytes takes less than this and b / option.rate.
  [[nodiscard]] Seconds latency() const { return latency_; }
  // The least time for this many bytes. Per byte it falls as the piece grows.
  [[nodiscard]] Seconds of(double bytes) const;
  // How many bytes one piece moves in this time at most; no more than the transfer has.
  [[nodiscard]] double most_bytes_in(Seconds time) const;
  // Pieces that follow one another move at most this rate times (t - first) in a time t, for every t from `first` to
  // `longest`. `first`: no more than latency().
  [[nodiscard]] BytesPerSecond throughput(Seconds first, Seconds longest) const;

 private:
  [[nodiscard]] double at_rate(double bytes) const { return latency_.value() + bytes / rate_.value(); }
  [[nodiscard]] double in_best_chunks(double bytes) const;

  double bytes_of_transfer_;
  BytesPerSecond rate_;
  Seconds latency_{0};
  std::optional<Pipeline> pipeline_;
  Seconds latency_before_chunks_{0};
};

}  // namespace lanewise
