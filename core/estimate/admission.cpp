#include "core/estimate/admission.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/estimate/schedule.hpp"
#include "core/units/bits.hpp"

namespace lanewise {
namespace {

// Amounts of work that differ by less count as equal: seconds, far below what a step takes.
constexpr double kEqualWork = 1e-9;

}  // namespace

Admission::Admission(FlowSet const& flows, std::span<Step const> steps, std::span<StepDemand const> demands,
                     EngineQueue& engines, double max_utilisation, Priority priority)
    : flows_(flows.flows()),
      capacities_(flows.capacities()),
      steps_(steps),
      demands_(demands),
      engines_(engines),
      max_utilisation_(max_utilisation),
      priority_(priority),
      utilisation_(flows.capacities().size(), 0) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    rate_alone_.push_back(rate_alone(flows_[i], capacities_));
    first_use_.push_back(alone_.size());
    for (auto const& use : flows_[i].uses)
      alone_.push_back({use.resource, use.weight * rate_alone_[i] / capacities_[use.resource]});
  }
  first_use_.push_back(alone_.size());
  note_needs();
  if (priority_ == Priority::StepOrder) return;
  slots_ = engines.free_slots();
  work_.resize(capacities_.size(), 0);
  engine_work_.resize(slots_.size(), 0);
  urgency_.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) add_work(i, 1);
}

void Admission::ready(std::size_t step) {
  waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), step), step);
}

void Admission::finished(std::size_t step) {
  engines_.release(step);
  for (auto const& use : alone(step))
    utilisation_[use.resource] = std::max(0.0, utilisation_[use.resource] - use.utilisation);
}

// A step that was held back is examined again only if something that it needs was freed.
void Admission::find_admissible(std::span<std::size_t const> ended) {
  std::fill(freed_.begin(), freed_.end(), 0);
  for (auto const step : ended)
    std::transform(freed_.begin(), freed_.end(), needs_of(step).begin(), freed_.begin(), std::bit_or<>());
  freed_words_.clear();
  for (std::size_t word = 0; word < words_; ++word)
    if (freed_[word] != 0) freed_words_.push_back(word);
  admissible_.clear();
  for (auto const step : waiting_)
    if ((is_held_back_[step] == 0 || needs_freed(step)) && fits_now(step))
      admissible_.push_back(step);
    else
      is_held_back_[step] = 1;
  if (!admissible_.empty() && priority_ == Priority::BottleneckFirst) sort_by_urgency();
}

void Admission::take(std::size_t step, std::span<std::size_t const> ended) {
  engines_.take(step);
  for (auto const& use : alone(step)) utilisation_[use.resource] += use.utilisation;
  if (priority_ == Priority::BottleneckFirst) add_work(step, -1);
  auto const known = order_.size();
  for (auto const other : ended)
    if (needs_any(step, needs_of(other))) order_.push_back({StepId(other), StepId(step)});
  if (order_.size() == known)
    for (auto const other : ended) order_.push_back({StepId(other), StepId(step)});
  waiting_.erase(std::lower_bound(waiting_.begin(), waiting_.end(), step));
}

bool Admission::fits_capacities(std::size_t step) const {
  auto const uses = alone(step);
  return std::all_of(uses.begin(), uses.end(), [&](UseAlone const& use) {
    return utilisation_[use.resource] <= 0 || utilisation_[use.resource] + use.utilisation <= max_utilisation_;
  });
}

void Admission::note_needs() {
  words_ = words_for(capacities_.size() + engines_.free_slots().size());
  needs_.resize(steps_.size() * words_, 0);
  freed_.resize(words_);
  is_held_back_.resize(steps_.size(), 0);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto const needs = std::span(needs_).subspan(i * words_, words_);
    for (auto const& use : flows_[i].uses) set_bit(needs, use.resource);
    for (auto const engine : demands_[i].engines) set_bit(needs, capacities_.size() + index(engine));
  }
}

bool Admission::needs_any(std::size_t step, std::span<std::uint64_t const> of) const {
  return std::inner_product(of.begin(), of.end(), needs_of(step).begin(), std::uint64_t{0}, std::bit_or<>(),
                            std::bit_and<>()) != 0;
}

bool Admission::needs_freed(std::size_t step) const {
  auto const needs = needs_of(step);
  return std::any_of(freed_words_.begin(), freed_words_.end(),
                     [&](std::size_t word) { return (needs[word] & freed_[word]) != 0; });
}

// First the step that needs the resource or engine with the most work left: that one must never idle.
void Admission::sort_by_urgency() {
  for (auto const step : admissible_) {
    auto& urgency = urgency_[step];
    urgency = {};
    auto const count = [&](double work) {
      work = std::round(work / kEqualWork);
      if (work > urgency.most) std::swap(work, urgency.most);
      urgency.next = std::max(urgency.next, work);
    };
    for (auto const& use : flows_[step].uses) count(work_[use.resource]);
    for (auto const engine : demands_[step].engines) count(engine_work_[index(engine)]);
  }
  std::sort(admissible_.begin(), admissible_.end(), [&](std::size_t a, std::size_t b) {
    auto const& one = urgency_[a];
    auto const& other = urgency_[b];
    if (one.most != other.most) return one.most > other.most;
    return one.next != other.next ? one.next > other.next : a < b;
  });
}

void Admission::add_work(std::size_t step, double sign) {
  auto const bytes = sign * static_cast<double>(steps_[step].bytes.value());
  for (auto const& use : flows_[step].uses) work_[use.resource] += use.weight * bytes / capacities_[use.resource];
  for (auto const engine : demands_[step].engines)
    engine_work_[index(engine)] +=
        (bytes / rate_alone_[step] + sign * demands_[step].latency().value()) / slots_[index(engine)];
}

}  // namespace lanewise
