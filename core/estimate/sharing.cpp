#include "core/estimate/sharing.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace lanewise {
namespace {

// Rates within this factor are equal: rounding leaves less between equal quotients.
constexpr double kEqualRates = 1 + 1e-12;
constexpr double kNoWeight = 1e-9;  // a sum of weights below this is a rest of rounding
constexpr double kNever = std::numeric_limits<double>::infinity();
// Rounds over all flows are faster than a queue below `kScannedFlows` flows, or where a round holds more than one in
// `kRoundsPerQueue` (bench: flows of different sizes).
constexpr std::size_t kScannedFlows = 1'200;
constexpr std::size_t kRoundsPerQueue = 16;
// A resource is never full if all flows at once, each at its rate alone, leave this part of it.
constexpr double kMinSpare = 0.01;

// The part of each capacity that all flows at once would take at the rates that they have alone.
std::vector<double> max_utilisations(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  std::vector<double> utilisation(capacities.size(), 0);
  for (auto const& flow : flows) {
    auto alone = flow.cap;
    for (auto const& use : flow.uses) alone = std::min(alone, capacities[use.resource] / use.weight);
    for (auto const& use : flow.uses) utilisation[use.resource] += use.weight * alone / capacities[use.resource];
  }
  return utilisation;
}

}  // namespace

void Sharing::share(std::span<Flow*> flows, double lowest_ended_rate) {
  let_rise(flows, lowest_ended_rate);
  levels_.clear();
  while (!rising_.empty()) {
    auto const before = rising_.size();
    auto const held = hold_at_bottlenecks();
    if (before < kScannedFlows || held * kRoundsPerQueue > before) continue;
    hold_by_queue();
    break;
  }
  for (auto const resource : used_) weights_[resource] = 0;
}

// From `lowest_rate` on; slower flows keep what they take.
void Sharing::let_rise(std::span<Flow*> flows, double lowest_rate) {
  used_.clear();
  rising_.clear();
  for (auto* flow : flows) {
    if (flow->rate < lowest_rate) continue;
    rising_.push_back(flow);
    for (auto const& use : flow->uses) {
      if (weights_[use.resource] == 0) {
        used_.push_back(use.resource);
        left_[use.resource] = capacities_[use.resource];
      }
      weights_[use.resource] += use.weight;
    }
  }
  if (rising_.size() < flows.size())
    for (auto* flow : flows)
      if (flow->rate < lowest_rate) take(*flow);
  for (auto const resource : used_) set_full_at(resource);
}

// Holds the flows of all bottlenecks, and those that reach their cap: a resource is one if none of its flows is held
// elsewhere first (Bertsekas & Gallager, 1987, 6.5.2). Rates elsewhere do not matter to these: holding a
// flow only raises the levels at which its other resources are full. Returns how many.
std::size_t Sharing::hold_at_bottlenecks() {
  reached_.resize(rising_.size());
  auto low = kNever;
  double high = 0;
  for (std::size_t i = 0; i < rising_.size(); ++i) {
    auto level = rising_[i]->cap;
    for (auto const& use : rising_[i]->uses) {
      level = std::min(level, full_at_[use.resource]);
      lowest_[use.resource] = kNever;
    }
    reached_[i] = level;
    low = std::min(low, level);
    high = std::max(high, level);
  }
  if (high <= low * kEqualRates) return hold_all(merged_with_equal_level(low));
  for (std::size_t i = 0; i < rising_.size(); ++i)
    for (auto const& use : rising_[i]->uses) {
      auto& lowest = lowest_[use.resource];
      lowest = std::min(lowest, reached_[i]);
    }
  held_.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rising_.size(); ++i) {
    auto const level = reached_[i];
    bool is_held = rising_[i]->cap <= level;
    for (auto const& use : rising_[i]->uses)
      is_held |= (full_at_[use.resource] <= level) & (lowest_[use.resource] >= level);
    if (is_held)
      held_.emplace_back(rising_[i], level);
    else
      rising_[kept++] = rising_[i];
  }
  rising_.resize(kept);
  if (rising_.empty())  // nobody asks any more what is left
    for (auto const& [flow, level] : held_) flow->rate = merged_with_equal_level(level);
  else
    for (auto const& [flow, level] : held_) hold(*flow, merged_with_equal_level(level));
  return held_.size();
}

std::size_t Sharing::hold_all(double level) {
  for (auto* flow : rising_) flow->rate = level;
  auto const count = rising_.size();
  rising_.clear();
  return count;
}

// Levels that differ by rounding are one, so that flows which share a bottleneck have one rate.
double Sharing::merged_with_equal_level(double level) {
  auto const found = std::lower_bound(levels_.begin(), levels_.end(), level);
  if (found != levels_.end() && *found <= level * kEqualRates) return *found;
  if (found != levels_.begin() && level <= *std::prev(found) * kEqualRates) return *std::prev(found);
  levels_.insert(found, level);
  return level;
}

void Sharing::hold(Flow& flow, double level) {
  flow.rate = level;
  take(flow);
  for (auto const& use : flow.uses) {
    weights_[use.resource] -= use.weight;
    set_full_at(use.resource);
  }
}

// What a flow uses at its rate is left to nobody.
void Sharing::take(Flow const& flow) {
  for (auto const& use : flow.uses) {
    auto& left = left_[use.resource];
    left = std::max(0.0, left - flow.rate * use.weight);
  }
}

// Adding and subtracting weights leaves a rest of rounding where no flow rises any more.
void Sharing::set_full_at(std::uint32_t resource) {
  full_at_[resource] = weights_[resource] > kNoWeight ? left_[resource] / weights_[resource] : kNever;
}

// Holds all rising flows, with a priority queue of the levels at which resources are full and caps are reached. Holding
// a flow only raises the levels of its resources, so an entry that has become too low is put back.
void Sharing::hold_by_queue() {
  list_users();
  auto const resources = static_cast<std::uint32_t>(capacities_.size());
  queue_.clear();
  for (auto const resource : used_)
    if (full_at_[resource] < kNever) queue_.emplace_back(full_at_[resource], resource);
  for (std::uint32_t i = 0; i < rising_.size(); ++i)
    if (rising_[i]->cap < kNever || rising_[i]->uses.empty()) queue_.emplace_back(rising_[i]->cap, resources + i);
  std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    auto const [level, what] = queue_.back();
    if (what < resources && full_at_[what] > level * kEqualRates && full_at_[what] < kNever) {
      queue_.back().first = full_at_[what];
      std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
      continue;
    }
    queue_.pop_back();
    if (what >= resources) {
      hold_if_rising(what - resources, level);
    } else if (full_at_[what] < kNever) {
      for (auto i = slices_[what].begin; i < slices_[what].end; ++i) hold_if_rising(users_[i], level);
    }
  }
}

void Sharing::list_users() {
  for (auto const resource : used_) slices_[resource] = {};
  for (auto const* flow : rising_)
    for (auto const& use : flow->uses) ++slices_[use.resource].end;
  std::uint32_t total = 0;
  for (auto const resource : used_) {
    auto& slice = slices_[resource];
    slice.begin = std::exchange(total, total + slice.end);
    slice.end = slice.begin;
  }
  users_.resize(total);
  for (std::uint32_t i = 0; i < rising_.size(); ++i)
    for (auto const& use : rising_[i]->uses) users_[slices_[use.resource].end++] = i;
}

void Sharing::hold_if_rising(std::uint32_t flow, double level) {
  if (auto* rising = std::exchange(rising_[flow], nullptr)) hold(*rising, level);
}

std::vector<bool> never_binding(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  struct Known {
    bool is_used = false;
    std::vector<std::uint32_t> fuller;  // other resources of which no flow so far takes a smaller part
  };
  std::vector<Known> known(capacities.size());
  std::vector<double> part(capacities.size(), 0);  // of each capacity that one flow takes per unit
  for (auto const& flow : flows) {
    for (auto const& use : flow.uses) part[use.resource] += use.weight / capacities[use.resource];
    for (auto const& use : flow.uses) {
      auto& [is_used, fuller] = known[use.resource];
      if (!std::exchange(is_used, true))
        for (auto const& other : flow.uses) fuller.push_back(other.resource);
      std::erase_if(fuller, [&](std::uint32_t other) {
        return other == use.resource || part[other] < part[use.resource] || part[other] == 0;
      });
    }
    for (auto const& use : flow.uses) part[use.resource] = 0;
  }
  auto const utilisation = max_utilisations(capacities, flows);
  std::vector<bool> never(capacities.size(), false);
  for (std::size_t resource = 0; resource < never.size(); ++resource)
    never[resource] = utilisation[resource] < 1 - kMinSpare ||
                      std::any_of(known[resource].fuller.begin(), known[resource].fuller.end(),
                                  [&](std::uint32_t other) { return !never[other]; });
  return never;
}

}  // namespace lanewise
