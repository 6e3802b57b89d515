#include "core/estimate/active_flows.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace lanewise {
namespace {

// Rates that differ by less than this part are equal, and a resource is full that has less than this part left.
constexpr double kEqual = 1e-10;
// Changes that reach far reach most: where this part of all would be filled, all that may change are, which costs
// little more (bench: transfers of random sizes).
constexpr std::size_t kPartOfAll = 4;

}  // namespace

ActiveFlows::ActiveFlows(std::span<double const> capacities, std::span<Sharing::Flow> classes)
    : capacities_(capacities),
      classes_(classes),
      users_(capacities.size()),
      kept_(capacities.size(), 0),
      holds_(capacities.size() + 1, 0),
      level_(capacities.size() + 1, 0),
      number_(capacities.size(), 0),
      count_(classes.size(), 0),
      bottleneck_(classes.size(), static_cast<std::uint32_t>(capacities.size())),
      place_(classes.size()),
      added_in_(classes.size(), 0) {
  first_use_.reserve(classes.size());
  std::uint32_t uses = 0;
  for (auto const& one : classes)
    first_use_.push_back(std::exchange(uses, uses + static_cast<std::uint32_t>(one.uses.size())));
  position_.resize(uses);
}

void ActiveFlows::begin(std::uint32_t flow_class) {
  lowest_ended_rate_ = 0;
  if (count_[flow_class] == 0) enter(flow_class);
  add(flow_class);
  ++count_[flow_class];
}

void ActiveFlows::end(std::uint32_t flow_class) {
  ended_.push_back(flow_class);
  auto const& one = classes_[flow_class];
  lowest_ended_rate_ = std::min(lowest_ended_rate_, one.rate * (1 - kEqual));
  if (!is_added(flow_class))
    for (auto const& use : one.uses) kept_[use.resource] -= use.weight * one.rate;
  if (--count_[flow_class] == 0) leave(flow_class);
}

void ActiveFlows::enter(std::uint32_t flow_class) {
  classes_[flow_class].rate = 0;
  place_[flow_class] = static_cast<std::uint32_t>(active_.size());
  active_.push_back(flow_class);
  ++holds_[bottleneck_[flow_class]];
  auto number = first_use_[flow_class];
  for (auto const& use : classes_[flow_class].uses) {
    auto& users = users_[use.resource];
    position_[number] = static_cast<std::uint32_t>(users.size());
    users.push_back({flow_class, number++});
  }
}

void ActiveFlows::leave(std::uint32_t flow_class) {
  place_[active_.back()] = place_[flow_class];
  active_[place_[flow_class]] = active_.back();
  active_.pop_back();
  --holds_[bottleneck_[flow_class]];
  auto number = first_use_[flow_class];
  for (auto const& use : classes_[flow_class].uses) {
    auto& users = users_[use.resource];
    auto const at = position_[number++];
    users[at] = users.back();
    position_[users[at].use] = at;
    users.pop_back();
    if (users.empty()) kept_[use.resource] = 0;  // rounding leaves a rest
  }
}

void ActiveFlows::share() {
  for (auto const flow_class : ended_) {
    if (count_[flow_class] > 0) add(flow_class);
    for (auto const& use : classes_[flow_class].uses) add_held_by(use.resource);
  }
  ended_.clear();
  if (!added_.empty()) {
    std::size_t filled = 0;
    bool has_all = false;
    do {
      filled += added_.size();
      has_all = filled * kPartOfAll > active_.size();
      if (has_all) add_all_that_may_change();
      fill();
    } while (!has_all && add_disturbed());
    keep_rates();
  }
  added_.clear();
  lowest_ended_rate_ = std::numeric_limits<double>::infinity();
  ++share_;
}

void ActiveFlows::add(std::uint32_t flow_class) {
  if (std::exchange(added_in_[flow_class], share_) == share_) return;
  added_.push_back(flow_class);
  --holds_[bottleneck_[flow_class]];
  auto const rate = classes_[flow_class].rate;
  for (auto const& use : classes_[flow_class].uses) kept_[use.resource] -= weight(use, flow_class) * rate;
}

void ActiveFlows::add_held_by(std::uint32_t resource) {
  if (holds_[resource] == 0) return;
  for (auto const& user : users_[resource])
    if (bottleneck_[user.flow_class] == resource) add(user.flow_class);
}

void ActiveFlows::add_faster(std::uint32_t resource, double level) {
  for (auto const& user : users_[resource])
    if (classes_[user.flow_class].rate > level * (1 + kEqual)) add(user.flow_class);
}

// Water fills as before up to the rate at which the first flow that has ended was held: slower ones keep their rates.
void ActiveFlows::add_all_that_may_change() {
  for (auto const flow_class : active_)
    if (classes_[flow_class].rate >= lowest_ended_rate_) add(flow_class);
}

// New rates for the classes that were added, of what all others leave. A resource that a class has for itself is a cap.
void ActiveFlows::fill() {
  filling_.clear();
  reached_.clear();
  for (auto const flow_class : added_) {
    filling_.add_flow(classes_[flow_class].cap);
    for (auto const& use : classes_[flow_class].uses) {
      auto const taken = weight(use, flow_class);
      if (is_shared(use.resource))
        filling_.add_use(number_of(use.resource), taken);
      else
        filling_.limit(capacities_[use.resource] / taken);
    }
  }
  filling_.fill();
  for (std::size_t i = 0; i < added_.size(); ++i) classes_[added_[i]].rate = filling_.rates()[i];
}

// Of a shared resource, in filling_.
std::uint32_t ActiveFlows::number_of(std::uint32_t resource) {
  auto& number = number_[resource];
  if (number >= reached_.size() || reached_[number] != resource) {
    number = filling_.add_resource(std::max(0.0, capacities_[resource] - kept_[resource]));
    reached_.push_back(resource);
  }
  return number;
}

// False: every class has its cap or a bottleneck.
bool ActiveFlows::add_disturbed() {
  auto const classes = added_.size();
  filling_.sum_up();
  for (std::size_t r = 0; r < reached_.size(); ++r) {
    auto const& [taken, fastest, level] = filling_.results()[r];
    auto const resource = reached_[r];
    bool const is_full = kept_[resource] + taken >= capacities_[resource] * (1 - kEqual);
    if (holds_[resource] > 0 && (!is_full || fastest > level_[resource] * (1 + kEqual))) add_held_by(resource);
    if (level >= 0) add_faster(resource, level);
  }
  return added_.size() > classes;
}

void ActiveFlows::keep_rates() {
  for (std::size_t i = 0; i < added_.size(); ++i) {
    auto const flow_class = added_[i];
    auto const rate = classes_[flow_class].rate;
    for (auto const& use : classes_[flow_class].uses) kept_[use.resource] += weight(use, flow_class) * rate;
    auto const held_by = filling_.held_by()[i];
    bottleneck_[flow_class] =
        held_by == WaterFilling::kCap ? static_cast<std::uint32_t>(capacities_.size()) : reached_[held_by];
    ++holds_[bottleneck_[flow_class]];
    level_[bottleneck_[flow_class]] = rate;
  }
}

}  // namespace lanewise
