#include "core/estimate/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

#include "core/estimate/demands.hpp"
#include "core/estimate/sharing.hpp"
#include "core/io/error.hpp"
#include "core/model/quirks.hpp"
#include "core/units/bits.hpp"

namespace lanewise {
namespace {

// Work that differs by less is alike: seconds, far below what a step takes.
constexpr double kAlike = 1e-9;
// Ends this close (relative to the time since the last change) are one event.
constexpr double kTogether = 1e-9;
// What is less than this ahead is now: seconds, far below what a clock's digits hold of a run.
constexpr double kInstant = 1e-15;

std::vector<PostedWrites> posted_writes(std::span<Step const> steps) {
  std::vector<PostedWrites> writes;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].way.mechanism == Mechanism::PcieP2p && steps[i].way.drive == Drive::Push &&
        steps[i].work == Seconds(0))
      writes.push_back({i, std::get<PciId>(steps[i].from), std::get<PciId>(steps[i].to)});
  return writes;
}

class EstimatedRun {
 public:
  // `fill`: how full anything may get before a step must wait; nullopt: only engines hold steps back.
  EstimatedRun(Model const& model, std::span<Step const> steps, std::span<Demand const> demands,
               std::optional<double> fill = {}, Priority first = Priority::StepOrder)
      : steps_(steps), demands_(demands), fill_(fill), first_(first), sharing_(capacities(model, steps, demands)) {
    for (std::size_t i = 0; i < model.resources().engine_count(); ++i)
      free_.push_back(model.resources().at(EngineId(i)).slots);
    flows_.resize(steps.size());
    left_.resize(steps.size());
    missing_.resize(steps.size(), 0);
    next_.resize(steps.size());
    result_.steps.resize(steps.size());
    lay_out_uses();
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (auto const* list : {&steps[i].after, &steps[i].order_only})
        for (auto const before : *list) {
          next_.at(index(before)).push_back(i);
          ++missing_[i];
        }
    if (!fill_) return;
    taken_.resize(sharing_.capacities().size(), 0);
    turns_.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      alone_.push_back(flows_[i].cap);
      for (auto const& use : flows_[i].uses)
        alone_[i] = std::min(alone_[i], sharing_.capacities()[use.resource] / use.weight);
    }
    note_what_is_needed();
    if (first_ == Priority::StepOrder) return;
    slots_ = free_;
    work_.resize(sharing_.capacities().size(), 0);
    engine_work_.resize(free_.size(), 0);
    urgency_.resize(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) count_work(i, 1);
  }

  Estimate run() {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (missing_[i] == 0) ready(i);
    admit();
    while (!delayed_.empty() || !flowing_.empty()) {
      if (changed_) {
        sharing_.share(flowing_);
        changed_ = false;
      }
      advance();
    }
    if (finished_ != steps_.size()) throw PlanError("the plan's steps wait for one another in a circle");
    return std::move(result_);
  }
  // For each step those whose end let it begin.
  [[nodiscard]] std::vector<std::vector<StepId>>& turns() { return turns_; }

 private:
  // What is left to do at the fullest thing that a step needs, and at the next fullest.
  struct Urgency {
    double most = 0;
    double next = 0;
  };

  // Those of the machine's resources that something uses, and behind them one for each quirk that applies.
  std::vector<double> capacities(Model const& model, std::span<Step const> steps, std::span<Demand const> demands) {
    place_of_.assign(model.resources().count(), 0);
    std::vector<double> capacities;
    for (auto const& demand : demands)
      for (auto const& use : demand.uses)
        if (place_of_[index(use.resource)] == 0) {
          capacities.push_back(model.capacity(use.resource)->value());
          place_of_[index(use.resource)] = static_cast<std::uint32_t>(capacities.size());
        }
    auto const writes = posted_writes(steps);
    if (writes.size() < 2) return capacities;
    quirks_ = posted_write_collapses(model.machine(), writes);
    first_quirk_ = static_cast<std::uint32_t>(capacities.size());
    for (auto const& quirk : quirks_) capacities.push_back(quirk.capacity.value());
    return capacities;
  }

  void lay_out_uses() {
    std::vector<std::vector<std::uint32_t>> of_quirks;
    if (!quirks_.empty()) of_quirks.resize(steps_.size());
    for (std::size_t q = 0; q < quirks_.size(); ++q)
      for (auto const member : quirks_[q].members) of_quirks[member].push_back(static_cast<std::uint32_t>(q));
    std::size_t count = 0;
    for (auto const& demand : demands_) count += demand.uses.size();
    for (auto const& list : of_quirks) count += list.size();
    uses_.reserve(count);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      auto const first = uses_.size();
      for (auto const& use : demands_[i].uses)
        uses_.push_back({place_of_[index(use.resource)] - 1, use.weight.ratio()});
      if (!of_quirks.empty())
        for (auto const quirk : of_quirks[i]) uses_.push_back({first_quirk_ + quirk, 1});
      flows_[i].uses = std::span(uses_).subspan(first);
      flows_[i].cap = demands_[i].cap.value();
    }
    forget_what_is_never_full();
  }
  void forget_what_is_never_full() {
    auto const never = never_binding(sharing_.capacities(), flows_);
    auto kept = uses_.begin();
    for (auto& flow : flows_) {
      auto const first = kept;
      for (auto const& use : flow.uses)
        if (!never[use.resource]) *kept++ = use;
      flow.uses = std::span(first, kept);
    }
  }

  // Holds a step back until its engines are free; first come, first served.
  void ready(std::size_t i) {
    if (fill_) return static_cast<void>(waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), i), i));
    if (!take(i)) return waiting_.push_back(i);
    begin(i);
  }
  [[nodiscard]] bool fits(std::size_t i) const {
    return std::all_of(flows_[i].uses.begin(), flows_[i].uses.end(), [&](Sharing::Use const& use) {
      return taken_[use.resource] <= 0 || taken_[use.resource] + share(i, use) <= *fill_;
    });
  }
  [[nodiscard]] double share(std::size_t i, Sharing::Use const& use) const {
    return use.weight * alone_[i] / sharing_.capacities()[use.resource];
  }
  [[nodiscard]] bool may_begin(std::size_t i) const { return engines_are_free(i) && fits(i); }
  void note_what_is_needed() {
    auto const things = sharing_.capacities().size() + free_.size();
    words_ = words_for(things);
    needs_.resize(steps_.size() * words_, 0);
    freed_.resize(words_);
    is_held_back_.resize(steps_.size(), 0);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      auto const needs = std::span(needs_).subspan(i * words_, words_);
      for (auto const& use : flows_[i].uses) set_bit(needs, use.resource);
      for (auto const engine : demands_[i].engines) set_bit(needs, sharing_.capacities().size() + index(engine));
    }
  }
  [[nodiscard]] std::span<std::uint64_t const> needs_of(std::size_t i) const {
    return std::span(needs_).subspan(i * words_, words_);
  }
  [[nodiscard]] bool needs_some(std::size_t i, std::span<std::uint64_t const> of) const {
    return std::inner_product(of.begin(), of.end(), needs_of(i).begin(), std::uint64_t{0}, std::bit_or<>(),
                              std::bit_and<>()) != 0;
  }
  // Begins what may begin now, where steps are held back by more than engines. One that was held back before still is
  // where nothing that it needs was freed.
  void admit() {
    if (!fill_) return;
    std::fill(freed_.begin(), freed_.end(), 0);
    for (auto const ended : ended_)
      std::transform(freed_.begin(), freed_.end(), needs_of(ended).begin(), freed_.begin(), std::bit_or<>());
    may_begin_.clear();
    for (auto const i : waiting_)
      if ((is_held_back_[i] == 0 || needs_some(i, freed_)) && may_begin(i))
        may_begin_.push_back(i);
      else
        is_held_back_[i] = 1;
    if (may_begin_.empty()) return;
    if (first_ == Priority::BottleneckFirst) sort_by_urgency();
    for (auto const i : may_begin_) {
      if (!may_begin(i)) continue;  // any more
      take(i);
      for (auto const& use : flows_[i].uses) taken_[use.resource] += share(i, use);
      if (first_ == Priority::BottleneckFirst) count_work(i, -1);
      for (auto const ended : ended_)
        if (needs_some(i, needs_of(ended))) turns_[i].push_back(StepId(ended));
      if (turns_[i].empty())
        for (auto const ended : ended_) turns_[i].push_back(StepId(ended));
      begin(i);
      waiting_.erase(std::lower_bound(waiting_.begin(), waiting_.end(), i));
    }
  }
  // Whoever needs what most work is left for goes first: the last thing to be through must never idle.
  void sort_by_urgency() {
    for (auto const i : may_begin_) {
      auto& urgency = urgency_[i];
      urgency = {};
      auto const count = [&](double work) {
        work = std::round(work / kAlike);
        if (work > urgency.most) std::swap(work, urgency.most);
        urgency.next = std::max(urgency.next, work);
      };
      for (auto const& use : flows_[i].uses) count(work_[use.resource]);
      for (auto const engine : demands_[i].engines) count(engine_work_[index(engine)]);
    }
    std::sort(may_begin_.begin(), may_begin_.end(), [&](std::size_t a, std::size_t b) {
      auto const& one = urgency_[a];
      auto const& other = urgency_[b];
      if (one.most != other.most) return one.most > other.most;
      return one.next != other.next ? one.next > other.next : a < b;
    });
  }
  void count_work(std::size_t i, double sign) {
    auto const bytes = sign * static_cast<double>(steps_[i].bytes.value());
    for (auto const& use : flows_[i].uses)
      work_[use.resource] += use.weight * bytes / sharing_.capacities()[use.resource];
    for (auto const engine : demands_[i].engines)
      engine_work_[index(engine)] += (bytes / alone_[i] + sign * demands_[i].latency().value()) / slots_[index(engine)];
  }
  [[nodiscard]] bool engines_are_free(std::size_t i) const {
    return std::all_of(demands_[i].engines.begin(), demands_[i].engines.end(),
                       [&](EngineId engine) { return free_[index(engine)] > 0; });
  }
  bool take(std::size_t i) {
    auto const& engines = demands_[i].engines;
    for (std::size_t k = 0; k < engines.size(); ++k) {
      if (free_[index(engines[k])]-- > 0) continue;
      for (std::size_t back = 0; back <= k; ++back) ++free_[index(engines[back])];
      return false;
    }
    return true;
  }
  void begin(std::size_t i) {
    result_.steps[i].start = Seconds(now_);
    delayed_.emplace(now_ + demands_[i].latency().value(), i);
  }

  // To the next end of a delay or a flow.
  void advance() {
    auto elapsed = delayed_.empty() ? std::numeric_limits<double>::infinity() : delayed_.top().first - now_;
    for (auto const* flow : flowing_) elapsed = std::min(elapsed, left_[number(flow)] / flow->rate);
    elapsed = std::max(elapsed, 0.0);
    auto const slack = elapsed * kTogether + kInstant;
    now_ += elapsed;
    ended_.clear();
    std::erase_if(flowing_, [&](Sharing::Flow* flow) {
      auto const i = number(flow);
      bool const ends = left_[i] <= flow->rate * (elapsed + slack);
      left_[i] -= flow->rate * elapsed;
      if (ends) ended_.push_back(i);
      return ends;
    });
    changed_ = changed_ || !ended_.empty();
    while (!delayed_.empty() && delayed_.top().first <= now_ + slack) {
      auto const i = delayed_.top().second;
      delayed_.pop();
      left_[i] = static_cast<double>(steps_[i].bytes.value());
      if (left_[i] > 0) {
        flowing_.push_back(&flows_[i]);
        changed_ = true;
      } else {
        ended_.push_back(i);
      }
    }
    std::sort(ended_.begin(), ended_.end());
    for (auto const step : ended_) end(step);
    admit();
  }

  void end(std::size_t i) {
    ++finished_;
    result_.steps[i].end = Seconds(now_);
    result_.makespan = std::max(result_.makespan, Seconds(now_));
    for (auto const engine : demands_[i].engines) ++free_[index(engine)];
    if (fill_) {
      for (auto const& use : flows_[i].uses) taken_[use.resource] = std::max(0.0, taken_[use.resource] - share(i, use));
    } else if (!demands_[i].engines.empty()) {
      std::erase_if(waiting_, [&](std::size_t waiting) {
        if (!take(waiting)) return false;
        begin(waiting);
        return true;
      });
    }
    for (auto const following : next_[i])
      if (--missing_[following] == 0) ready(following);
  }
  [[nodiscard]] std::size_t number(Sharing::Flow const* flow) const {
    return static_cast<std::size_t>(flow - flows_.data());
  }

  std::span<Step const> steps_;
  std::span<Demand const> demands_;
  std::optional<double> fill_;
  Priority first_;
  std::vector<double> alone_;         // rate of a step by itself
  std::size_t words_ = 0;             // of a bit for every resource, and behind them every engine
  std::vector<std::uint64_t> needs_;  // bits of what a step passes and holds, one step's behind the other's
  std::vector<std::uint64_t> freed_;  // of what steps that just ended had
  std::vector<char> is_held_back_;    // of a step: it waits, and could not begin when it was last asked
  std::vector<int> slots_;
  std::vector<double> work_;
  std::vector<double> engine_work_;
  std::vector<Urgency> urgency_;
  std::vector<double> taken_;  // of a resource, by the steps under way at their rates alone
  std::vector<std::vector<StepId>> turns_;
  std::vector<std::uint32_t> place_of_;  // 1 + where a resource stands among those in use
  std::vector<QuirkLimit> quirks_;
  std::uint32_t first_quirk_ = 0;
  Sharing sharing_;
  std::vector<int> free_;  // slots of an engine
  std::vector<Sharing::Use> uses_;
  std::vector<Sharing::Flow> flows_;
  std::vector<double> left_;
  std::vector<int> missing_;
  std::vector<std::vector<std::size_t>> next_;
  std::vector<std::size_t> waiting_;    // ascending where steps are held back by more than engines
  std::vector<std::size_t> may_begin_;  // of these, now
  using Delay = std::pair<double, std::size_t>;
  std::priority_queue<Delay, std::vector<Delay>, std::greater<>> delayed_;
  std::vector<Sharing::Flow*> flowing_;
  std::vector<std::size_t> ended_;
  double now_ = 0;
  bool changed_ = false;
  std::size_t finished_ = 0;
  Estimate result_;
};

}  // namespace

Estimate estimate(Model const& model, std::span<Step const> steps, std::span<Demand const> demands) {
  if (steps.empty()) return {};
  return EstimatedRun(model, steps, demands).run();
}

Estimate schedule_with_admission(Model const& model, std::vector<Step>& steps, std::span<Demand const> demands,
                                 double fill, Priority first) {
  if (steps.empty()) return {};
  EstimatedRun run(model, steps, demands, fill, first);
  auto result = run.run();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto& turns = steps[i].order_only;
    turns.insert(turns.end(), run.turns()[i].begin(), run.turns()[i].end());
    std::sort(turns.begin(), turns.end());
    turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
  }
  return result;
}

Estimate estimate(Model const& model, std::vector<Step> const& steps) {
  auto const demands = demands_of(model, steps);
  return estimate(model, steps, demands);
}

}  // namespace lanewise
