// Copies through host memory in two legs: a pipelined ring of chunks of ours, the driver's, or one whole buffer.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/model/lowering/lowering.hpp"

namespace lanewise {

using namespace literals;

Bytes best_chunk(Bytes bytes, Seconds gap, BytesPerSecond rate) {
  constexpr std::int64_t kMinChunk = 64 << 10;
  constexpr std::int64_t kMaxChunk = 16 << 20;
  auto const ideal = std::sqrt(static_cast<double>(bytes.value()) * gap.value() * rate.value());
  auto const bounded = std::clamp(static_cast<std::int64_t>(ideal), kMinChunk, kMaxChunk);
  return Bytes(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bounded))));
}

// Both legs of a ring of chunks run at once; a chunk must arrive whole before it goes on.
void Lowering::pipeline(Seconds latency, std::optional<BytesPerSecond> first_leg, Seconds gap) {
  auto const rate = path_.rate();
  demand_.path += latency;
  demand_.chunk = way_.chunk > 0_B ? way_.chunk : rate ? best_chunk(bytes_, gap, *rate) : overheads::kDefaultChunk;
  if (!rate || !first_leg) return;
  auto const chunk = demand_.chunk;
  auto const first_chunk = std::min(chunk, bytes_);
  demand_.pipeline = Pipeline{*rate, *first_leg, gap};
  if (bytes_ > chunk) path_.limit(chunk / (chunk / *rate + gap), Cap::ChunkOverhead);
  demand_.path += first_chunk / *first_leg;
}

void Lowering::start_two_legs() {
  add_busy_start(host_time(overheads::kHostSubmit * 2.0 + overheads::kHostSync) + event_start() * 2.0);
  hold_engine(gpu_from());
  hold_engine(gpu_to());
}

// Of the driver's staged copies: what the source's part says, or what the host and the engines take. Each follows its
// own assumption.
Seconds Lowering::driver_staged_start() const {
  auto const* part = machine_.part_of(gpu_from());
  if (part != nullptr && part->gpu.staged_start) return host_time(*part->gpu.staged_start);
  return host_time(overheads::kDriverStagedStartOfHost) + event_start() * 2.0;
}

Seconds Lowering::driver_staged_gap() const {
  auto const* part = machine_.part_of(gpu_from());
  if (part != nullptr && part->gpu.staged_gap) return host_time(*part->gpu.staged_gap);
  return host_time(overheads::kDriverChunkGapOfHost) + event_start();
}

bool Lowering::legs_are_sequential(PciId gpu) const {
  auto const* part = machine_.part_of(gpu);
  return part != nullptr && part->gpu.staged_legs == StagedLegs::InTurn;
}

void Lowering::host_staged() {
  auto const memory = *way_.staging;
  auto const out = add_leg([&](PathBuilder& p) { return p.gpu_to_memory(gpu_from(), memory); });
  auto const in = add_leg([&](PathBuilder& p) { return p.memory_to_gpu(memory, gpu_to()); });
  if (way_.by_driver) return driver_staged(out, in);
  start_two_legs();
  auto const rate = path_.rate();
  auto const gap = chunk_gap(gpu_from());
  pipeline(out.latency + in.latency, out.rate, gap);
  if (rate && bytes_ > demand_.chunk) occupy_links(1 + gap / (demand_.chunk / *rate));
}

// Between two chunks the engine of each GPU serves no other copy, so a chunk takes more of the GPU's link than its
// bytes. Source: three copies at once from one H100 to another, 109 us of 1 MiB each and 586 us of 8 MiB each, where
// the bytes alone would take 57 and 458 us and the chunks with their gaps 86 and 572.
void Lowering::occupy_links(double factor) {
  path_.scale_use(resources_.link_above(gpu_from()).direction.up, factor);
  path_.scale_use(resources_.link_above(gpu_to()).direction.down, factor);
}

// The driver's own copy between GPUs without peer access: chunks of a fixed size, with a pause after each.
void Lowering::driver_staged(Leg const& out, Leg const& in) {
  add_busy_start(driver_staged_start());
  hold_engine(gpu_from());
  hold_engine(gpu_to());
  auto const gap = driver_staged_gap();
  auto const chunk = std::min(bytes_, overheads::kDriverChunk);
  bool const sequential = legs_are_sequential(gpu_from()) || legs_are_sequential(gpu_to());
  demand_.chunk = overheads::kDriverChunk;
  demand_.path += out.latency + in.latency;
  if (!out.rate || !in.rate) return;
  if (!sequential) demand_.path += chunk / *out.rate;  // the first chunk arrives whole before the second leg begins
  if (bytes_ <= overheads::kDriverChunk && !sequential) return;
  // During a pause the resources of the way are idle, so each byte takes that much more of them.
  auto const leg_time = sequential ? overheads::kDriverChunk / *out.rate + overheads::kDriverChunk / *in.rate
                                   : overheads::kDriverChunk / std::min(*out.rate, *in.rate);
  auto const pauses = (leg_time + gap) / leg_time;
  if (sequential)
    path_.scale_sequential_uses(pauses);
  else
    path_.scale_uses(pauses);
  for (auto const gpu : {gpu_from(), gpu_to()})
    if (auto const both = resources_.driver_staging(gpu)) path_.use(*both);
  path_.limit(overheads::kDriverChunk / (leg_time + gap), sequential ? Cap::SequentialLegs : Cap::ChunkOverhead);
}

// Without a pipeline: the whole message is written, then read.
void Lowering::limit_sequential_legs(Leg const& out, Leg const& in) {
  demand_.path += out.latency + in.latency;
  if (out.rate && in.rate)
    path_.limit(BytesPerSecond(1 / (1 / out.rate->value() + 1 / in.rate->value())), Cap::SequentialLegs);
}

void Lowering::shared_host() {
  auto const memory = *way_.staging;
  if (way_.nic_from || way_.nic_to) return network();
  Demand out;
  Demand in;
  auto const out_leg = measure_leg(out, [&](PathBuilder& p) { return p.gpu_to_memory(gpu_from(), memory); });
  auto const in_leg = measure_leg(in, [&](PathBuilder& p) { return p.memory_to_gpu(memory, gpu_to()); });
  if (out_leg.rate && in_leg.rate) {
    auto const taken = out;
    reserve_whole_time(out, in, 1 + *out_leg.rate / *in_leg.rate);
    reserve_whole_time(in, taken, 1 + *in_leg.rate / *out_leg.rate);
  }
  path_.append(out);
  path_.append(in);
  start_two_legs();
  limit_sequential_legs(out_leg, in_leg);
}

// Reserves for the whole copy what only one of the two legs uses: another flow that needs the resources of both legs
// cannot fill one while it is idle. `longer`: the time of both legs over that of this one.
void Lowering::reserve_whole_time(Demand& leg, Demand const& other, double longer) const {
  for (auto& use : leg.uses)
    if (resources_.at(use.resource).kind != ResourceKind::HostDuplex &&
        std::none_of(other.uses.begin(), other.uses.end(), [&](Use const& u) { return u.resource == use.resource; }))
      use.weight = Weight::floor_of(use.weight.ratio() * longer);
}

}  // namespace lanewise
