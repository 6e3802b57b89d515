#include "core/planner/bounds/piece_time.hpp"

#include <algorithm>
#include <cmath>

namespace lanewise {
namespace {

// The time that is left when b / rate is subtracted, at its minimum over all pieces b: the first chunk of a pipeline is
// no larger than the piece, and a piece of one chunk has no gaps. The time is linear between the three sizes looked at:
// one byte, one chunk, and all bytes.
Seconds min_latency(Model const& model, OpenTransfer const& transfer, TransferOption const& option) {
  auto least = option.demand.latency();
  auto const cap_of_all = option.demand.cap;
  auto const chunk = option.demand.chunk > Bytes(0) ? option.demand.chunk : transfer.bytes;
  for (auto const piece : {Bytes(1), std::min(chunk, transfer.bytes)}) {
    auto const demand = model.lower(transfer.from, transfer.to, piece, option.op, option.way);
    auto time = demand.latency();
    if (demand.cap < kUnlimited) time += piece / demand.cap;
    if (cap_of_all < kUnlimited) time = time - piece / cap_of_all;
    least = std::min(least, time);
  }
  return std::max(least, Seconds(0));
}

// At most `all`; no less than what takes this time, but by rounding. `time_of` grows with the bytes.
template <class TimeOf>
double most_bytes(double all, double time, TimeOf const& time_of) {
  if (time_of(all) <= time) return all;
  double least = 0;
  double most = all;
  constexpr int kHalvings = 30;
  for (int i = 0; i < kHalvings; ++i) {
    auto const middle = (least + most) / 2;
    (time_of(middle) <= time ? least : most) = middle;
  }
  return most;
}

}  // namespace

PieceTime::PieceTime(Model const& model, OpenTransfer const& transfer, TransferOption const& option)
    : bytes_of_transfer_(static_cast<double>(transfer.bytes.value())),
      rate_(option.rate),
      latency_(min_latency(model, transfer, option)),
      pipeline_(option.demand.pipeline) {
  if (pipeline_)
    latency_before_chunks_ =
        option.demand.latency() - std::min(option.demand.chunk, transfer.bytes) / pipeline_->first_leg;
}

// Chunks of c bytes take c / first_leg to fill the pipeline, and bytes / c gaps: least where the two are equal.
double PieceTime::in_best_chunks(double bytes) const {
  auto const one_chunk = bytes / pipeline_->first_leg.value();
  auto const best_chunks = 2 * std::sqrt(one_chunk * pipeline_->gap.value());
  return latency_before_chunks_.value() + bytes / pipeline_->rate.value() + std::min(one_chunk, best_chunks);
}

Seconds PieceTime::of(double bytes) const {
  return Seconds(pipeline_ ? std::max(without_chunks(bytes), in_best_chunks(bytes)) : without_chunks(bytes));
}

double PieceTime::most_bytes_in(Seconds time) const {
  return most_bytes(bytes_of_transfer_, time.value(), [&](double bytes) { return of(bytes).value(); });
}

PieceTime::Throughput PieceTime::throughput_up_to(Seconds longest) const {
  Throughput const without{rate_, latency_};
  if (!pipeline_) return without;
  // The time in the best chunks is a concave function of the bytes, so what is moved lies below a chord.
  auto const time = std::min(longest.value(), in_best_chunks(bytes_of_transfer_));
  if (!(time > latency_before_chunks_.value() && time > latency_.value())) return without;
  auto const bytes = most_bytes(bytes_of_transfer_, time, [&](double part) { return in_best_chunks(part); });
  if (bytes >= rate_.value() * (time - latency_.value())) return without;
  return {BytesPerSecond(bytes / (time - latency_before_chunks_.value())), latency_before_chunks_};
}

}  // namespace lanewise
