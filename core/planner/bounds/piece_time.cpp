#include "core/planner/bounds/piece_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {
namespace {

struct SizedDemand {
  Bytes bytes{0};
  Demand demand;  // of a step of that size
};

SizedDemand sized_demand(Model const& model, OpenTransfer const& transfer, TransferOption const& option, Bytes bytes) {
  return {bytes, model.lower(transfer.from, transfer.to, bytes, option.op, option.way)};
}

// The time that is left when b / rate is subtracted, at its minimum over all pieces b: the first chunk of a pipeline is
// no larger than the piece, and a piece of one chunk has no gaps. The time is linear between the three sizes looked at:
// one byte, one chunk, and all bytes.
Seconds min_latency(std::vector<SizedDemand> const& demands, BytesPerSecond cap_of_all) {
  auto least = kUnknownTime;
  for (auto const& [bytes, demand] : demands) {
    auto time = demand.latency();
    if (demand.cap < kUnlimited) time += bytes / demand.cap;
    if (cap_of_all < kUnlimited) time = time - bytes / cap_of_all;
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
      pipeline_(option.demand.pipeline),
      latency_before_chunks_(kUnknownTime) {
  auto const chunk = option.demand.chunk > Bytes(0) ? option.demand.chunk : transfer.bytes;
  std::vector<SizedDemand> const demands{sized_demand(model, transfer, option, Bytes(1)),
                                         sized_demand(model, transfer, option, std::min(chunk, transfer.bytes)),
                                         {transfer.bytes, option.demand}};
  latency_ = min_latency(demands, option.demand.cap);
  for (auto const& [bytes, demand] : demands)
    if (pipeline_)
      latency_before_chunks_ =
          std::min(latency_before_chunks_, demand.latency() - std::min(demand.chunk, bytes) / pipeline_->first_leg);
  latency_ = std::min(latency_, latency_before_chunks_);
}

// Chunks of c bytes take c / first_leg to fill the pipeline, and bytes / c gaps: least where the two are equal.
double PieceTime::in_best_chunks(double bytes) const {
  auto const one_chunk = bytes / pipeline_->first_leg.value();
  auto const best_chunks = 2 * std::sqrt(one_chunk * pipeline_->gap.value());
  return latency_before_chunks_.value() + bytes / pipeline_->rate.value() + std::min(one_chunk, best_chunks);
}

Seconds PieceTime::of(double bytes) const {
  return Seconds(pipeline_ ? std::max(at_rate(bytes), in_best_chunks(bytes)) : at_rate(bytes));
}

double PieceTime::most_bytes_in(Seconds time) const {
  return most_bytes(bytes_of_transfer_, time.value(), [&](double bytes) { return of(bytes).value(); });
}

// What is moved is a convex function of the time, and nothing moves before `first`: from there on it lies below the
// chord.
BytesPerSecond PieceTime::throughput(Seconds first, Seconds longest) const {
  auto const chord = [&](auto const& time_of) {
    auto const time = std::min(longest.value(), time_of(bytes_of_transfer_));
    if (time <= first.value()) return rate_.value();
    return most_bytes(bytes_of_transfer_, time, time_of) / (time - first.value());
  };
  auto least = std::min(rate_.value(), chord([&](double bytes) { return at_rate(bytes); }));
  if (pipeline_) least = std::min(least, chord([&](double bytes) { return in_best_chunks(bytes); }));
  constexpr double kLeastPart = 1e-6;  // of the rate: constraints are divided by it
  return BytesPerSecond(std::max(least, kLeastPart * rate_.value()));
}

}  // namespace lanewise
