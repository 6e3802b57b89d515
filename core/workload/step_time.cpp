#include "core/workload/step_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rules/conditions.hpp"
#include "core/text/percent.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr double kDefaultMemoryUtilization = 0.6;

// Of what is left of computing that hides communication.
class Budget {
 public:
  explicit Budget(Seconds left) : left_(left) {}
  // What of `time` it does not hide.
  Seconds expose(Seconds time) {
    auto const hidden = std::min(time, left_);
    left_ = left_ - hidden;
    return time - hidden;
  }

 private:
  Seconds left_;
};

class StepComposer {
 public:
  StepComposer(Workload const& workload, StageTime const& stage)
      : w_(workload),
        p_(workload.parallel),
        stage_(stage),
        micro_(micro_batches(workload)),
        layers_(layers_of_stage(workload)),
        gradients_(stage.backward),
        weights_(stage.forward) {}

  PatternShare share(PatternTime const& time) {
    auto const& pattern = time.pattern;
    auto const all = time.each * pattern.count;
    auto const exposed = std::min(exposed_of(time), all);
    return {time, exposed, all - exposed};
  }

 private:
  [[nodiscard]] bool is_forward(TrafficPattern const& pattern) const { return pattern.phase == StepPhase::Forward; }
  // Computing of one layer in the pass of a pattern.
  [[nodiscard]] Seconds layer(TrafficPattern const& pattern) const {
    return (is_forward(pattern) ? stage_.forward : stage_.backward) / layers_;
  }

  [[nodiscard]] Seconds exposed_of(PatternTime const& time) {
    auto const& pattern = time.pattern;
    auto const all = time.each * pattern.count;
    if (pattern.phase == StepPhase::Gradients) return behind_computing(time, gradients_, w_.overlap.dp);
    if (pattern.phase == StepPhase::Weights) return behind_computing(time, weights_, w_.overlap.dp);
    switch (pattern.among) {
      case RankGroup::Tensor:
        return w_.overlap.tp && pattern.exchange != Exchange::PrefillToDecode ? in_pieces(time) : all;
      case RankGroup::Context:
        return w_.overlap.cp && pattern.exchange == Exchange::RingShift ? beside_attention(time) : all;
      case RankGroup::Expert: return w_.overlap.ep ? beside_other_batch(time) : all;
      case RankGroup::Pipeline: return between_stages(time);
      case RankGroup::Shards:
      case RankGroup::ExpertReplicas: return w_.overlap.dp ? prefetched(time) : all;
      case RankGroup::Replicas:
      case RankGroup::ShardReplicas: break;
    }
    return all;
  }

  // Buckets one by one behind the pass; the last of gradients, and the first of weights, has nothing to hide behind.
  static Seconds behind_computing(PatternTime const& time, Budget& budget, bool overlaps) {
    auto const all = time.each * time.pattern.count;
    if (!overlaps) return all;
    return time.each + budget.expose(all - time.each);
  }

  // Computing and sending in as many pieces as ranks: the first piece of one or the last of the other stands alone.
  [[nodiscard]] Seconds in_pieces(PatternTime const& time) const {
    if (time.pattern.id == "tp-embedding" || time.pattern.id == "tp-loss" || time.pattern.id == "tp-logits")
      return time.each * time.pattern.count;
    auto const multiplication = layer(time.pattern) / 2;  // of attention's or the feed-forward network's matrices
    auto const each = std::max(time.each / p_.tp, time.each - multiplication);
    return each * time.pattern.count;
  }

  [[nodiscard]] Seconds beside_attention(PatternTime const& time) const {
    auto const share = attention_flop(w_) / forward_flop(w_);
    auto const block = layer(time.pattern) * share / p_.cp;
    return std::max(Seconds(0), time.each - block) * time.pattern.count;
  }

  // Dispatch and combine of a layer share the computing of the other micro-batch.
  [[nodiscard]] Seconds beside_other_batch(PatternTime const& time) const {
    return std::max(Seconds(0), time.each - layer(time.pattern) / 2) * time.pattern.count;
  }

  // Each message while the pipeline fills (forward) or drains (backward) delays all that follows.
  [[nodiscard]] Seconds between_stages(PatternTime const& time) const {
    auto const alone = time.each * (p_.pp - 1);
    if (w_.mode != WorkloadMode::Train) return alone;
    return w_.overlap.pp ? alone : std::max(alone, time.each * time.pattern.count);
  }

  // Weights of the next layer while this one computes; the first of a pass stands alone. Gradients get what the weights
  // of the backward pass leave.
  [[nodiscard]] Seconds prefetched(PatternTime const& time) {
    auto& budget = is_forward(time.pattern) ? forward_layer_ : backward_layer_;
    if (!budget) budget.emplace(layer(time.pattern));
    auto const each = budget->expose(time.each);
    return each * time.pattern.count + std::max(Seconds(0), time.each - each) * micro_;
  }

  Workload const& w_;
  Parallelism const& p_;
  StageTime stage_;
  int micro_;
  double layers_;  // of one stage
  Budget gradients_, weights_;
  std::optional<Budget> forward_layer_, backward_layer_;  // of computing of one layer, for weights that are gathered
};

// The GPU of the first rank.
Part const& gpu_part(Workload const& workload, Machine const& machine) {
  auto const placement = place_ranks(workload, machine);
  auto const gpu = gpu_at(machine, placement.ranks.front());
  auto const* part = gpu ? machine.part_of(*gpu) : nullptr;
  if (part == nullptr)
    throw PlanError(fmt::format("nobody says which GPU '{}' is; give the workload's compute as 'forward'",
                                machine.name_of(placement.ranks.front())));
  return *part;
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

FlopPerSecond needed_peak(Workload const& workload, Part const& part) {
  auto const peak = peak_of(workload.precision.matrices, part.gpu);
  if (!peak)
    throw PlanError(fmt::format("nobody says the {} rate of {}; give the workload's compute as 'forward'",
                                to_string(workload.precision.matrices), part.name));
  return *peak;
}

// Weights that a token passes and the cache that it reads, on one rank.
double bytes_read(Workload const& workload) {
  auto const& model = workload.model;
  auto const own = parameters_of_rank(workload);
  auto const tokens = static_cast<double>(tokens_at_once(workload)) * workload.parallel.dp;
  auto touched = 1.0;  // of the experts, expected with uniform routing
  if (model.experts > 0)
    touched = 1 - std::pow(1 - static_cast<double>(model.experts_per_token) / model.experts, tokens);
  auto const weights = (own.dense + own.experts * touched) * bits_of(workload.precision.weights) / 8.0;
  auto const context = workload.batch.prompt + workload.batch.output / 2.0;
  return weights + workload.batch.concurrency * kv_bytes_of_rank(workload, context);
}

// Computing with this share of the peak rate.
StageTime at_utilization(Workload const& workload, FlopPerSecond peak, double mfu) {
  auto const forward = forward_flop(workload) / (peak * mfu);
  return {forward, forward * (workload.recompute == Recompute::Full ? 3 : 2)};
}

// GPUs of a run with fewer ranks than the workload's: the first that it names; empty: those of the machine.
std::vector<std::string> first_ranks(Workload const& workload, Machine const& machine, int count) {
  std::vector<std::string> names;
  if (workload.ranks.empty() || !workload.compute.fitted->machine.empty()) return names;
  auto const placement = place_ranks(workload, machine);
  for (std::size_t i = 0; i < placement.ranks.size() && i < static_cast<std::size_t>(count); ++i)
    names.push_back(machine.name_of(placement.ranks[i]));
  return names;
}

Seconds stage_pass(Workload const& workload, StageTime const& stage) {
  return workload.mode == WorkloadMode::Train ? stage.forward + stage.backward : stage.forward;
}

// The forward time with which a step takes as long as was measured: the step grows with it.
StageTime fit_stage(Workload const& workload, std::vector<PatternTime> const& times, Seconds measured) {
  auto const ratio = workload.recompute == Recompute::Full ? 3.0 : 2.0;
  auto const step_with = [&](Seconds forward) {
    return compose_step(workload, times, {forward, forward * ratio}).step;
  };
  Seconds low{0};
  Seconds high = measured;
  if (step_with(low) > measured)
    refuse_at(workload.pos,
              fmt::format("workload: its communication alone takes longer than the measured step of {:.4g} s",
                          measured.value()));
  for (int i = 0; i < 60; ++i) {
    auto const middle = (low + high) / 2;
    (step_with(middle) > measured ? high : low) = middle;
  }
  return {low, low * ratio};
}

}  // namespace

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
  if (compute.forward) {
    auto const ratio = workload.recompute == Recompute::Full ? 3.0 : 2.0;
    return {*compute.forward, compute.backward.value_or(*compute.forward * ratio)};
  }
  bool const reads_memory = workload.mode == WorkloadMode::Decode;
  if (!compute.mfu && !reads_memory)
    refuse_at(
        workload.pos,
        "workload: nobody says how long computing takes; add compute: {mfu: 40 %}, {forward: 12 ms} or {fitted: ...}");
  auto const& part = gpu_part(workload, machine);
  StageTime stage;
  if (compute.mfu) stage = at_utilization(workload, needed_peak(workload, part), *compute.mfu);
  if (reads_memory) {
    if (!part.gpu.memory_bandwidth) throw PlanError(fmt::format("nobody says the memory bandwidth of {}", part.name));
    auto const rate = *part.gpu.memory_bandwidth * compute.memory_utilization.value_or(kDefaultMemoryUtilization);
    stage.forward = std::max(stage.forward, Seconds(bytes_read(workload) / rate.value()));
  }
  return stage;
}

StepTime compose_step(Workload const& workload, std::vector<PatternTime> const& times, StageTime const& stage) {
  auto const& p = workload.parallel;
  auto const micro = micro_batches(workload);
  bool const trains = workload.mode == WorkloadMode::Train;
  StepTime result;
  result.stage = stage;
  StepComposer composer(workload, stage);
  Seconds in_passes{0};  // exposed between the computing of one micro-batch
  Seconds beside{0};     // exposed once a step
  for (auto const& time : times) {
    auto const& share = result.patterns.emplace_back(composer.share(time));
    auto const& pattern = time.pattern;
    bool const in_pass = (pattern.phase == StepPhase::Forward || pattern.phase == StepPhase::Backward) &&
                         pattern.among != RankGroup::Pipeline;
    (in_pass ? in_passes : beside) += in_pass ? share.exposed / micro : share.exposed;
    result.exposed += share.exposed;
  }
  auto const pass = stage_pass(workload, stage) + in_passes;
  result.computing = stage_pass(workload, stage) * micro;
  // Training: interleaved chunks shorten the pipeline's idle time (Narayanan et al. 2021). Inference: a batch passes
  // all stages one after another, and others follow it.
  result.idle = trains ? pass * (p.pp - 1) / p.vpp : pass * (p.pp - 1);
  result.step = workload.mode == WorkloadMode::KvTransfer ? beside : pass * micro + result.idle + beside;
  auto const tokens = static_cast<double>(tokens_at_once(workload)) * p.dp * micro;
  result.tokens_per_second = tokens / result.step.value() * (trains ? 1 : p.pp);
  return result;
}

PlannedStep::PlannedStep(Workload workload, Model const& model, Model const& fitted_model,
                         std::optional<Library> const& library)
    : workload_(std::move(workload)), traffic_(workload_, model, library) {
  auto const& fitted = workload_.compute.fitted;
  if (!fitted) return;
  measured_ = workload_;
  measured_->parallel = fitted->parallel;
  measured_->batch = fitted->batch;
  measured_->ranks = first_ranks(workload_, fitted_model.machine(), fitted->parallel.ranks());
  measured_traffic_.emplace(*measured_, fitted_model, library);
}

StepTime PlannedStep::time(Model const& model, Model const& fitted_model, MakeExecutor const& make_executor) const {
  auto const times = traffic_.times(model, make_executor);
  auto const& compute = workload_.compute;
  if (workload_.mode == WorkloadMode::KvTransfer) return compose_step(workload_, times, {});
  StageTime stage;
  std::string computing_by;
  if (measured_) {
    auto const fitted =
        fit_stage(*measured_, measured_traffic_->times(fitted_model, make_executor), compute.fitted->step_time);
    auto const scale = forward_flop(workload_) / forward_flop(*measured_);
    stage = {fitted.forward * scale, fitted.backward * scale};
    computing_by = fmt::format("fitted to a step of {:.4g} s on {} GPUs", compute.fitted->step_time.value(),
                               measured_->parallel.ranks());
  } else {
    stage = stage_time(workload_, model.machine());
    computing_by = compute.forward ? "given"
                   : compute.mfu   ? fmt::format("mfu {}", percent_text(*compute.mfu))
                                   : "what is read from memory";
  }
  auto result = compose_step(workload_, times, stage);
  result.computing_by = std::move(computing_by);
  auto const peak = peak_of(workload_.precision.matrices, gpu_part(workload_, model.machine()).gpu);
  if (peak && stage.forward > Seconds(0)) {
    bool const trains = workload_.mode == WorkloadMode::Train;
    auto const work = forward_flop(workload_) * (trains ? 3.0 : 1.0);
    result.mfu = work / *peak / stage_pass(workload_, stage);
    result.step_mfu = work * micro_batches(workload_) / *peak / result.step;
  }
  return result;
}

StepTime step_time(Workload const& workload, Model const& model, Model const& fitted_model, TrafficRun const& run) {
  return PlannedStep(workload, model, fitted_model, run.library).time(model, fitted_model, run.make_executor);
}

}  // namespace lanewise
