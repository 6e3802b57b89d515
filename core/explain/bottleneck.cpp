#include "lanewise/explain/bottleneck.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "core/estimate/demands.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> kWaited{"nothing", "step", "turn", "engine"};
// Traces round times to the digits of a double in microseconds, and SimGrid resolves a nanosecond.
constexpr Seconds kSameInstant{2e-9};

BytesPerSecond rate_alone(Model const& model, StepDemand const& demand) {
  auto rate = demand.cap;
  for (auto const& use : demand.uses) rate = std::min(rate, *model.capacity(use.resource) / use.weight.ratio());
  return rate;
}

Seconds time_alone(Model const& model, Step const& step, StepDemand const& demand) {
  return step.bytes > Bytes(0) ? demand.latency() + step.bytes / rate_alone(model, demand) : demand.latency();
}

// The interval in which a step's bytes flowed, and their mean rate.
struct Flowing {
  Seconds from{0};
  Seconds until{0};
  double rate = 0;
};
Flowing flowing(Step const& step, StepTrace const& ran, StepDemand const& demand) {
  Flowing flow{std::min(ran.start + demand.latency(), ran.end), ran.end, 0};
  auto const time = (flow.until - flow.from).value();
  if (step.bytes > Bytes(0) && time > 0) flow.rate = static_cast<double>(step.bytes.value()) / time;
  return flow;
}

class Path {
 public:
  Path(Plan const& plan, Trace const& trace, Model const& model)
      : plan_(plan), trace_(trace), model_(model), demands_(demands_of(model, plan.steps, plan.folding)) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      flows_.push_back(flowing(plan.steps[i], trace.steps[i], demands_[i]));
  }

  std::vector<PathStep> steps() {
    std::vector<PathStep> path;
    auto at = std::optional(last_of_all());
    while (at) {
      auto [entry, before] = explained(*at);
      path.push_back(std::move(entry));
      at = before;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  [[nodiscard]] std::size_t last_of_all() const {
    auto const found = std::max_element(trace_.steps.begin(), trace_.steps.end(),
                                        [](StepTrace const& a, StepTrace const& b) { return a.end < b.end; });
    return static_cast<std::size_t>(found - trace_.steps.begin());
  }

  // The path's entry for a step, and the step before it on the path.
  std::pair<PathStep, std::optional<std::size_t>> explained(std::size_t i) const {
    auto const& ran = trace_.steps[i];
    PathStep entry{
        StepId(i), WaitedFor::Nothing, {}, ran.start, ran.end, time_alone(model_, plan_.steps[i], demands_[i])};
    constexpr double kLonger = 1.01;
    if (ran.duration() > entry.alone * kLonger) entry.shared = fullest(i);
    std::optional<std::size_t> before;
    auto const consider = [&](std::vector<StepId> const& list, WaitedFor waited) {
      for (auto const id : list) {
        auto const end = trace_.steps[index(id)].end;
        if (end + kSameInstant < ran.start || (before && end <= trace_.steps[*before].end)) continue;
        before = index(id);
        entry.waited = waited;
      }
    };
    consider(plan_.steps[i].after, WaitedFor::Step);
    consider(plan_.steps[i].order_only, WaitedFor::Turn);
    if (!before && ran.start > kSameInstant) before = holder_of_engine(i, entry);
    return {std::move(entry), before};
  }

  [[nodiscard]] std::optional<std::size_t> holder_of_engine(std::size_t i, PathStep& entry) const {
    auto const start = trace_.steps[i].start;
    for (std::size_t other = 0; other < plan_.steps.size(); ++other) {
      auto const end = trace_.steps[other].end;
      if (other == i || end + kSameInstant < start || end > start + kSameInstant || trace_.steps[other].start >= start)
        continue;
      for (auto const engine : demands_[other].engines) {
        auto const& own = demands_[i].engines;
        if (std::find(own.begin(), own.end(), engine) == own.end()) continue;
        entry.waited = WaitedFor::Engine;
        entry.engine = model_.resources().at(engine).name;
        return other;
      }
    }
    return std::nullopt;
  }

  // The resource on the step's route with the highest utilisation by all steps while it flowed.
  [[nodiscard]] std::string fullest(std::size_t i) const {
    auto const& own = flows_[i];
    std::map<ResourceId, double> load;
    for (auto const& use : demands_[i].uses) load[use.resource] = 0;
    for (std::size_t other = 0; other < flows_.size(); ++other) {
      auto const overlap = std::min(own.until, flows_[other].until) - std::max(own.from, flows_[other].from);
      if (overlap <= Seconds(0)) continue;
      for (auto const& use : demands_[other].uses)
        if (auto const found = load.find(use.resource); found != load.end())
          found->second += use.weight.ratio() * flows_[other].rate * overlap.value();
    }
    std::string name;
    double most = 0;
    for (auto const& [resource, bytes] : load) {
      auto const capacity = model_.capacity(resource);
      if (!capacity || bytes / capacity->value() <= most) continue;
      most = bytes / capacity->value();
      name = model_.resources().at(resource).name;
    }
    return name;
  }

  Plan const& plan_;
  Trace const& trace_;
  Model const& model_;
  StepDemands demands_;
  std::vector<Flowing> flows_;
};

// The bytes through every resource in each of equally long windows of a run.
class Windows {
 public:
  Windows(Plan const& plan, Trace const& trace, Model const& model)
      : model_(model),
        width_(trace.makespan / static_cast<double>(kWindows)),
        carried_(kWindows, std::vector<double>(model.resources().count(), 0)),
        moved_(kWindows, 0),
        computed_(kWindows, 0) {
    auto const demands = demands_of(model, plan.steps, plan.folding);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      auto const& ran = trace.steps[i];
      auto const flow = flowing(plan.steps[i], ran, demands[i]);
      bool const computes = plan.steps[i].work > Seconds(0);
      each_window(computes ? ran.start : flow.from, ran.end, [&](std::size_t w, Seconds overlap) {
        if (computes) computed_[w] += overlap.value();
        auto const bytes = flow.rate * overlap.value();
        moved_[w] += bytes * plan.steps[i].count;
        for (auto const& use : demands[i].uses) carried_[w][index(use.resource)] += use.weight.ratio() * bytes;
      });
    }
  }

  [[nodiscard]] std::vector<Phase> phases() const {
    std::vector<Phase> phases;
    for (std::size_t w = 0; w < kWindows; ++w) {
      auto phase = phase_of(w);
      if (!phases.empty() && phases.back().kind == phase.kind)
        join(phases.back(), phase);
      else
        phases.push_back(std::move(phase));
    }
    return phases;
  }

 private:
  static constexpr std::size_t kWindows = 20;

  template <class Call>
  void each_window(Seconds from, Seconds until, Call&& call) const {
    auto const first = static_cast<std::size_t>(std::clamp(from / width_, 0.0, static_cast<double>(kWindows - 1)));
    for (auto w = first; w < kWindows; ++w) {
      auto const overlap = std::min(until, end_of(w)) - std::max(from, end_of(w) - width_);
      if (overlap <= Seconds(0)) return;
      call(w, overlap);
    }
  }
  [[nodiscard]] Seconds end_of(std::size_t window) const { return width_ * static_cast<double>(window + 1); }

  [[nodiscard]] Phase phase_of(std::size_t w) const {
    Phase phase;
    phase.start = end_of(w) - width_;
    phase.end = end_of(w);
    phase.computing = computed_[w] / width_.value();
    phase.rate = BytesPerSecond(moved_[w] / width_.value());
    for (std::size_t r = 0; r < carried_[w].size(); ++r) {
      auto const capacity = model_.capacity(ResourceId(r));
      if (!capacity || carried_[w][r] <= 0) continue;
      auto const share = carried_[w][r] / (capacity->value() * width_.value());
      if (share <= phase.utilisation) continue;
      phase.utilisation = std::min(share, 1.0);
      phase.busiest = model_.resources().at(ResourceId(r)).name;
      phase.kind = model_.resources().at(ResourceId(r)).kind;
    }
    return phase;
  }

  // Extends a phase by the next window: averages over time, and takes the name of the busier resource.
  static void join(Phase& one, Phase const& next) {
    auto const a = (one.end - one.start).value();
    auto const b = (next.end - next.start).value();
    auto const mean = [&](double x, double y) { return (x * a + y * b) / (a + b); };
    one.computing = mean(one.computing, next.computing);
    one.rate = BytesPerSecond(mean(one.rate.value(), next.rate.value()));
    if (next.utilisation > one.utilisation) one.busiest = next.busiest;
    one.utilisation = mean(one.utilisation, next.utilisation);
    one.end = next.end;
  }

  Model const& model_;
  Seconds width_;
  std::vector<std::vector<double>> carried_;  // bytes through each resource
  std::vector<double> moved_;                 // bytes
  std::vector<double> computed_;              // seconds of all GPUs
};

}  // namespace

std::string_view to_string(WaitedFor waited) { return kWaited[static_cast<std::size_t>(waited)]; }

std::vector<PathStep> critical_path(Plan const& plan, Trace const& trace, Model const& model) {
  return plan.steps.empty() ? std::vector<PathStep>{} : Path(plan, trace, model).steps();
}

std::vector<Phase> phases_of(Plan const& plan, Trace const& trace, Model const& model) {
  return trace.makespan > Seconds(0) ? Windows(plan, trace, model).phases() : std::vector<Phase>{};
}

}  // namespace lanewise
