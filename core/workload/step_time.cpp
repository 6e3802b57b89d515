#include "core/workload/step_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/percent.hpp"
#include "core/workload/placement_search.hpp"
#include "core/workload/trace_traffic.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

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

// What hides behind the computing of one pass.
struct PassBudget {
  Budget all, attention;
};

class StepComposer {
 public:
  StepComposer(Workload const& workload, StageTime const& stage)
      : w_(workload),
        p_(workload.parallel),
        stage_(stage),
        micro_(micro_batches(workload)),
        layers_(layers_of_stage(workload)),
        forward_(pass_budget(stage.forward)),
        backward_(pass_budget(stage.backward)),
        ahead_((stage.forward + stage.backward) * micro_),
        gradients_(stage.backward),
        weights_(stage.forward) {}

  PatternShare share(PatternTime const& time) {
    auto const all = time.each * time.pattern.count;
    auto const exposed = exposed_of(time);
    return {time, exposed, std::max(Seconds(0), all - exposed)};
  }

 private:
  [[nodiscard]] PassBudget pass_budget(Seconds computing) const {
    auto const all = computing * micro_;
    auto const flop = forward_flop(w_);
    auto const attention = flop > Flop(0) ? attention_flop(w_) / flop : 0.0;
    // The part of a ring's attention that has something to wait for: all but its first block.
    return {Budget(all), Budget(all * attention * (p_.cp - 1) / p_.cp)};
  }
  [[nodiscard]] static bool is_forward(TrafficPattern const& pattern) { return pattern.phase == StepPhase::Forward; }
  [[nodiscard]] PassBudget& pass(TrafficPattern const& pattern) { return is_forward(pattern) ? forward_ : backward_; }

  [[nodiscard]] Seconds exposed_of(PatternTime const& time) {
    auto const& pattern = time.pattern;
    auto const all = time.each * pattern.count;
    if (pattern.phase == StepPhase::Gradients) return behind_computing(time, gradients_, w_.overlap.dp);
    if (pattern.phase == StepPhase::Weights) return behind_computing(time, weights_, w_.overlap.dp);
    if (pattern.phase == StepPhase::Once) return all;
    if (pattern.phase == StepPhase::Ahead) return ahead_.expose(all);
    if (pattern.phase == StepPhase::Afterwards) return Seconds(0);  // compose_step() knows how long a step is
    switch (pattern.among) {
      case RankGroup::Tensor: return w_.overlap.tp && pattern.in_layers ? in_pieces(time) : all;
      case RankGroup::Context:
        return w_.overlap.cp && pattern.exchange == Exchange::RingShift ? beside_attention(time) : all;
      case RankGroup::Expert:
      case RankGroup::ExpertTensor: return w_.overlap.ep ? pass(pattern).all.expose(all) : all;
      case RankGroup::Pipeline: return between_stages(time);
      case RankGroup::Each: return prefetched(time);
      case RankGroup::Shards:
      case RankGroup::ExpertReplicas: return w_.overlap.dp ? prefetched(time) : all;
      default: break;
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
  [[nodiscard]] Seconds in_pieces(PatternTime const& time) {
    auto const all = time.each * time.pattern.count;
    return all / p_.tp + pass(time.pattern).all.expose(all - all / p_.tp);
  }

  [[nodiscard]] Seconds beside_attention(PatternTime const& time) {
    auto const all = time.each * time.pattern.count;
    auto const left = pass(time.pattern).attention.expose(all);
    return left + pass(time.pattern).all.expose(all - left);
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
    if (!budget) budget.emplace((is_forward(time.pattern) ? stage_.forward : stage_.backward) / layers_);
    auto const each = budget->expose(time.each);
    return each * time.pattern.count + std::max(Seconds(0), time.each - each) * micro_;
  }

  Workload const& w_;
  Parallelism const& p_;
  StageTime stage_;
  int micro_;
  double layers_;                  // of one stage
  PassBudget forward_, backward_;  // of a whole step, for messages between the computing of a layer
  Budget ahead_;                   // all computing of a step
  Budget gradients_, weights_;
  std::optional<Budget> forward_layer_, backward_layer_;  // of computing of one layer, for weights that are gathered
};

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

// The computing with which a step takes as long as was measured: the step grows with it. Nullopt: communication alone
// takes longer.
std::optional<StageTime> fit_stage(Workload const& workload, std::vector<PatternTime> const& times, Seconds measured) {
  auto const with = [&](Seconds forward) { return StageTime{forward, forward * backward_ratio(workload)}; };
  auto const step_with = [&](Seconds forward) { return compose_step(workload, times, with(forward)).step; };
  Seconds low{0};
  Seconds high = measured;
  if (step_with(low) > measured) return std::nullopt;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    auto const middle = (low + high) / 2;
    (step_with(middle) > measured ? high : low) = middle;
  }
  return with(low);
}

// What goes on behind the following steps makes them longer where it takes longer than they do, one after another.
void expose_afterwards(StepTime& result) {
  Budget steps(result.step);
  for (auto& share : result.patterns) {
    if (share.time.pattern.phase != StepPhase::Afterwards) continue;
    auto const all = share.time.each * share.time.pattern.count;
    share.exposed = steps.expose(all);
    share.hidden = all - share.exposed;
    result.exposed += share.exposed;
    result.step += share.exposed;
  }
}

}  // namespace

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
  expose_afterwards(result);
  auto const tokens = static_cast<double>(tokens_at_once(workload)) * p.dp * micro;
  result.tokens_per_second = tokens / result.step.value() * (trains ? 1 : p.pp);
  return result;
}

PlannedStep::PlannedStep(Workload workload, Model const& model, Model const& fitted_model, Effort effort)
    : workload_(std::move(workload)) {
  if (auto const& fitted = workload_.compute.fitted) {
    measured_ = workload_;
    measured_->parallel = fitted->parallel;
    measured_->batch = fitted->batch;
    measured_->ranks = first_ranks(workload_, fitted_model.machine(), fitted->parallel.ranks());
    measured_traffic_.emplace(*measured_, fitted_model, effort);
  }
  if (workload_.parallel.search_order && workload_.parallel.ranks() > 1 && workload_.mode != WorkloadMode::KvTransfer) {
    searched_ = search_order(workload_, model, stage(model, fitted_model, {}));
    workload_.parallel.order = full_order(searched_->order);
  }
  traffic_.emplace(workload_, model, effort);
}

StageTime PlannedStep::stage(Model const& model, Model const& fitted_model, MakeExecutor const& make_executor) const {
  return measured_ ? fitted_stage(model, fitted_model, make_executor) : stage_time(workload_, model.machine());
}

StageTime PlannedStep::fitted_stage(Model const& model, Model const& fitted_model,
                                    MakeExecutor const& make_executor) const {
  auto const measured = workload_.compute.fitted->step_time;
  auto const found = fit_stage(*measured_, measured_traffic_->times(fitted_model, make_executor), measured);
  // Where a figure is moved to the end of its range this is no contradiction: computing takes next to nothing then.
  if (!found && fitted_model.assumed().is_nominal())
    refuse_at(workload_.pos,
              fmt::format("workload: its communication alone takes longer than the measured step of {:.4g} s",
                          measured.value()));
  auto scale = forward_flop(workload_) / forward_flop(*measured_);
  auto const here = peak_rate(workload_, model.machine());
  auto const there = peak_rate(*measured_, fitted_model.machine());
  if (here && there) scale *= *there / *here;
  auto const stage = found.value_or(StageTime{});
  return {stage.forward * scale, stage.backward * scale};
}

StepTime PlannedStep::time(Model const& model, Model const& fitted_model, MakeExecutor const& make_executor) const {
  auto const times = traffic_->times(model, make_executor);
  auto const& compute = workload_.compute;
  if (workload_.trace) return compose_traced_step(*workload_.trace, times);
  if (workload_.mode == WorkloadMode::KvTransfer) return compose_step(workload_, times, {});
  auto const stage = this->stage(model, fitted_model, make_executor);
  auto result = compose_step(workload_, times, stage);
  result.searched = searched_;
  result.computing_by = measured_         ? fmt::format("fitted to a step of {:.4g} s on {} GPUs",
                                                        compute.fitted->step_time.value(), measured_->parallel.ranks())
                        : compute.forward ? "given"
                        : compute.table   ? "table " + compute.table->file
                        : compute.mfu     ? fmt::format("mfu {}", percent_text(*compute.mfu))
                                          : "what is read from memory";
  auto const peak = peak_rate(workload_, model.machine());
  if (peak && stage.forward > Seconds(0)) {
    bool const trains = workload_.mode == WorkloadMode::Train;
    auto const work = forward_flop(workload_) * (trains ? 3.0 : 1.0);
    result.mfu = work / *peak / stage_pass(workload_, stage);
    result.step_mfu = work * micro_batches(workload_) / *peak / result.step;
  }
  return result;
}

std::vector<Parameter> PlannedStep::parameters(Model const& model, Model const& fitted_model) const {
  auto all = traffic_->parameters(model);
  if (measured_traffic_)
    for (auto const parameter : measured_traffic_->parameters(fitted_model))
      if (std::find(all.begin(), all.end(), parameter) == all.end()) all.push_back(parameter);
  return all;
}

StepTime step_time(Workload const& workload, Model const& model, Model const& fitted_model,
                   MakeExecutor const& make_executor) {
  return PlannedStep(workload, model, fitted_model).time(model, fitted_model, make_executor);
}

}  // namespace lanewise
