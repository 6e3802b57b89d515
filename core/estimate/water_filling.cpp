#include "core/estimate/water_filling.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

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
// Fills of one run are alike: where a queue was faster it is taken so many times more before rounds are tried again.
constexpr int kFillsByQueue = 16;

// Adding and subtracting weights leaves a rest of rounding where no flow rises any more.
double full_at(double left, double weight) { return weight > kNoWeight ? left / weight : kNever; }

}  // namespace

void WaterFilling::clear() {
  resources_.clear();
  caps_.clear();
  first_use_.clear();
  uses_.clear();
}

std::uint32_t WaterFilling::add_resource(double capacity) {
  resources_.push_back({capacity, 0, 0, 0});
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

void WaterFilling::add_flow(double cap) {
  caps_.push_back(cap);
  first_use_.push_back(static_cast<std::uint32_t>(uses_.size()));
}

void WaterFilling::fill() {
  first_use_.push_back(static_cast<std::uint32_t>(uses_.size()));
  rates_.resize(caps_.size());
  held_by_.resize(caps_.size());
  rising_.resize(caps_.size());
  std::iota(rising_.begin(), rising_.end(), 0U);
  for (auto& resource : resources_) resource.full_at = full_at(resource.left, resource.weight);
  levels_.clear();
  if (rising_.size() >= kScannedFlows && queues_left_ > 0) {
    --queues_left_;
    return hold_by_queue();
  }
  while (!rising_.empty()) {
    auto const before = rising_.size();
    auto const held = hold_at_bottlenecks();
    if (before < kScannedFlows || held * kRoundsPerQueue > before) continue;
    queues_left_ = kFillsByQueue;
    return hold_by_queue();
  }
}

void WaterFilling::sum_up() {
  results_.assign(resources_.size(), {});
  for (std::uint32_t flow = 0; flow < caps_.size(); ++flow) {
    auto const rate = rates_[flow];
    for (auto const& use : uses_of(flow)) {
      auto& result = results_[use.resource];
      result.taken += use.weight * rate;
      result.fastest = std::max(result.fastest, rate);
    }
    if (held_by_[flow] != kCap) results_[held_by_[flow]].level = rate;
  }
}

// Holds the flows of all bottlenecks, and those that reach their cap: a resource is one if none of its flows is held
// elsewhere first (Bertsekas & Gallager, 1987, 6.5.2). Rates elsewhere do not matter to these: holding a
// flow only raises the levels at which its other resources are full. Returns how many.
std::size_t WaterFilling::hold_at_bottlenecks() {
  reached_.resize(rising_.size());
  auto low = kNever;
  double high = 0;
  for (std::size_t i = 0; i < rising_.size(); ++i) {
    auto level = caps_[rising_[i]];
    for (auto const& use : uses_of(rising_[i])) {
      auto& resource = resources_[use.resource];
      level = std::min(level, resource.full_at);
      resource.lowest = kNever;
    }
    reached_[i] = level;
    low = std::min(low, level);
    high = std::max(high, level);
  }
  if (high <= low * kEqualRates) return hold_all(merged_with_equal_level(low));
  for (std::size_t i = 0; i < rising_.size(); ++i)
    for (auto const& use : uses_of(rising_[i])) {
      auto& lowest = resources_[use.resource].lowest;
      lowest = std::min(lowest, reached_[i]);
    }
  held_.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rising_.size(); ++i) {
    auto const flow = rising_[i];
    auto const level = reached_[i];
    bool is_held = caps_[flow] <= level;
    auto by = kCap;
    for (auto const& use : uses_of(flow)) {
      auto const& resource = resources_[use.resource];
      bool const is_bottleneck = (resource.full_at <= level) & (resource.lowest >= level);
      by = is_bottleneck ? use.resource : by;
      is_held |= is_bottleneck;
    }
    held_by_[flow] = by;
    if (is_held)
      held_.emplace_back(flow, level);
    else
      rising_[kept++] = flow;
  }
  rising_.resize(kept);
  if (rising_.empty())  // nobody asks any more what is left
    for (auto const& [flow, level] : held_) rates_[flow] = merged_with_equal_level(level);
  else
    for (auto const& [flow, level] : held_) hold(flow, merged_with_equal_level(level));
  return held_.size();
}

std::size_t WaterFilling::hold_all(double level) {
  for (auto const flow : rising_) {
    rates_[flow] = level;
    held_by_[flow] = kCap;
    for (auto const& use : uses_of(flow))
      if (resources_[use.resource].full_at <= level * kEqualRates) held_by_[flow] = use.resource;
  }
  auto const count = rising_.size();
  rising_.clear();
  return count;
}

// Levels that differ by rounding are one, so that flows which share a bottleneck have one rate.
double WaterFilling::merged_with_equal_level(double level) {
  auto const found = std::lower_bound(levels_.begin(), levels_.end(), level);
  if (found != levels_.end() && *found <= level * kEqualRates) return *found;
  if (found != levels_.begin() && level <= *std::prev(found) * kEqualRates) return *std::prev(found);
  levels_.insert(found, level);
  return level;
}

// What a flow uses at its rate is left to nobody.
void WaterFilling::hold(std::uint32_t flow, double level) {
  rates_[flow] = level;
  for (auto const& use : uses_of(flow)) {
    auto& resource = resources_[use.resource];
    resource.left = std::max(0.0, resource.left - level * use.weight);
    resource.weight -= use.weight;
    resource.full_at = full_at(resource.left, resource.weight);
  }
}

// Holds all rising flows, with a priority queue of the levels at which resources are full and caps are reached. Holding
// a flow only raises the levels of its resources, so an entry that has become too low is put back.
void WaterFilling::hold_by_queue() {
  list_users();
  auto const resources = static_cast<std::uint32_t>(resources_.size());
  queue_.clear();
  for (std::uint32_t resource = 0; resource < resources; ++resource)
    if (resources_[resource].full_at < kNever) queue_.emplace_back(resources_[resource].full_at, resource);
  for (auto const flow : rising_)
    if (caps_[flow] < kNever || uses_of(flow).empty()) queue_.emplace_back(caps_[flow], resources + flow);
  std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
  still_rising_ = rising_.size();
  while (still_rising_ > 0 && !queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    auto const [level, what] = queue_.back();
    auto const full = what < resources ? resources_[what].full_at : level;
    if (full > level * kEqualRates && full < kNever) {
      queue_.back().first = full;
      std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
      continue;
    }
    queue_.pop_back();
    if (what >= resources) {
      hold_if_rising(what - resources, level, kCap);
    } else if (full < kNever) {
      for (auto i = slices_[what].begin; i < slices_[what].end; ++i) hold_if_rising(users_[i], level, what);
    }
  }
  if (still_rising_ == 0) return;
  for (auto const flow : rising_)  // without a cap, and what it uses is never full
    if (is_rising_[flow] != 0) {
      rates_[flow] = kNever;
      held_by_[flow] = kCap;
    }
}

void WaterFilling::list_users() {
  slices_.assign(resources_.size(), {});
  is_rising_.assign(caps_.size(), 0);
  for (auto const flow : rising_) {
    is_rising_[flow] = 1;
    for (auto const& use : uses_of(flow)) ++slices_[use.resource].end;
  }
  std::uint32_t total = 0;
  for (auto& slice : slices_) {
    slice.begin = std::exchange(total, total + slice.end);
    slice.end = slice.begin;
  }
  users_.resize(total);
  for (auto const flow : rising_)
    for (auto const& use : uses_of(flow)) users_[slices_[use.resource].end++] = flow;
}

void WaterFilling::hold_if_rising(std::uint32_t flow, double level, std::uint32_t by) {
  if (std::exchange(is_rising_[flow], 0) == 0) return;
  --still_rising_;
  held_by_[flow] = by;
  hold(flow, level);
}

}  // namespace lanewise
