// How long computing takes: by what the workload says, not by a model of ours.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rules/conditions.hpp"
#include "core/workload/step_time.hpp"
#include "core/workload/token_tables.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr double kDefaultMemoryUtilization = 0.6;

// The GPU of the first rank; nullptr: nobody says which it is.
Part const* gpu_part(Workload const& workload, Machine const& machine) {
  auto const gpu = gpu_at(machine, place_ranks(workload, machine).ranks.front());
  return gpu ? machine.part_of(*gpu) : nullptr;
}

std::optional<FlopPerSecond> peak_of(NumberFormat format, GpuFigures const& gpu) {
  switch (format) {
    case NumberFormat::Fp32: return gpu.fp32_rate;
    case NumberFormat::Bf16:
    case NumberFormat::Fp16: return gpu.fp16_rate;
    case NumberFormat::Fp8: return gpu.fp8_rate;
    case NumberFormat::Fp4: return gpu.fp4_rate;
  }
  return std::nullopt;
}

// Weights that a token passes and the cache that it reads, on one rank.
double bytes_read(Workload const& workload) {
  auto const& model = workload.model;
  auto const own = parameters_of_rank(workload);
  // Of all ranks that share one copy of the experts.
  auto const& p = workload.parallel;
  auto const replicas = std::max(1.0, static_cast<double>(p.ep) * p.expert_tp() / (p.tp * p.cp));
  auto const tokens = static_cast<double>(tokens_at_once(workload)) * replicas;
  auto touched = 1.0;  // of the experts, expected with uniform routing
  if (model.experts > 0)
    touched = 1 - std::pow(1 - static_cast<double>(model.experts_per_token) / model.experts, tokens);
  auto const weights = (own.dense + own.experts * touched) * bytes_of(workload.precision.weights);
  auto const context = workload.batch.prompt + workload.batch.output / 2.0;
  return weights + workload.batch.concurrency * kv_bytes_of_rank(workload, context);
}

// Computing with this share of the peak rate. What is recomputed is no work of the model's: it makes the rest slower.
StageTime at_utilization(Workload const& workload, FlopPerSecond peak, double mfu) {
  auto const forward = forward_flop(workload) / (peak * mfu);
  if (workload.mode != WorkloadMode::Train) return {forward, Seconds(0)};
  auto const passes = 1 + backward_ratio(workload);
  return {forward * 3 / passes, forward * 3 * (passes - 1) / passes};
}

}  // namespace

std::optional<FlopPerSecond> peak_rate(Workload const& workload, Machine const& machine) {
  auto const* part = gpu_part(workload, machine);
  return part == nullptr ? std::nullopt : peak_of(workload.precision.matrices, part->gpu);
}

double backward_ratio(Workload const& workload) { return workload.recompute == Recompute::Full ? 3 : 2; }

Flop attention_flop(Workload const& workload) {
  auto const& model = workload.model;
  auto const& batch = workload.batch;
  auto const tokens = static_cast<double>(tokens_at_once(workload));
  double seen = batch.sequence;  // tokens that one token attends to
  if (workload.mode == WorkloadMode::Prefill) seen = batch.prompt;
  if (workload.mode == WorkloadMode::Decode) seen = batch.prompt + batch.output / 2.0;
  auto const windowed = model.windowed_layers > 0 ? std::min<double>(seen, model.sliding_window) : 0.0;
  auto const summed = seen * (model.layers - model.windowed_layers) + windowed * model.windowed_layers;
  auto const ranks = workload.parallel.tp * workload.parallel.cp * workload.parallel.pp;
  return Flop(4.0 * summed * model.attention_heads * model.head_size * tokens / ranks);
}

Flop forward_flop(Workload const& workload) {
  auto const tokens = static_cast<double>(tokens_at_once(workload));
  auto const ranks = workload.parallel.tp * workload.parallel.cp * workload.parallel.pp;
  return Flop(2.0 * static_cast<double>(workload.model.multiplied_parameters()) * tokens / ranks) +
         attention_flop(workload);
}

StageTime stage_time(Workload const& workload, Machine const& machine) {
  auto const& compute = workload.compute;
  if (compute.forward)
    return {*compute.forward, compute.backward.value_or(*compute.forward * backward_ratio(workload))};
  if (compute.table) {
    auto const tokens = static_cast<double>(tokens_at_once(workload));
    auto const times = times_at(*compute.table, tokens);
    if (!times)
      refuse_at(workload.pos, fmt::format("workload: {} says nothing of {:.0f} tokens", compute.table->file, tokens));
    return {times->forward, times->backward.value_or(Seconds(0))};
  }
  bool const reads_memory = workload.mode == WorkloadMode::Decode;
  if (!compute.mfu && !reads_memory)
    refuse_at(workload.pos,
              "workload: nobody says how long computing takes; add compute: {mfu: 40 %}, {forward: 12 ms}, {table: "
              "FILE} or {fitted: ...}");
  StageTime stage;
  if (compute.mfu) {
    auto const peak = peak_rate(workload, machine);
    if (!peak)
      throw PlanError(fmt::format("nobody says the {} rate of the GPUs of {}; give the workload's compute as 'forward'",
                                  to_string(workload.precision.matrices), machine.name));
    stage = at_utilization(workload, *peak, *compute.mfu);
  }
  if (reads_memory) {
    auto const* part = gpu_part(workload, machine);
    if (part == nullptr || !part->gpu.memory_bandwidth)
      throw PlanError(
          fmt::format("nobody says the memory bandwidth of the GPUs of {}; give the workload's compute as "
                      "'forward'",
                      machine.name));
    auto const rate = *part->gpu.memory_bandwidth * compute.memory_utilization.value_or(kDefaultMemoryUtilization);
    stage.forward = std::max(stage.forward, Seconds(bytes_read(workload) / rate.value()));
  }
  return stage;
}

}  // namespace lanewise
