#include "core/planner/schedules/pricing_problem.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "core/planner/schedules/schedule_limits.hpp"
#include "core/units/bits.hpp"

namespace lanewise {

PricingProblem::PricingProblem(CandidateFlows& flows, unsigned seed) : flows_(flows), random_(seed) {
  unreached_.assign(words_for(flows_.size()), 0);
}

PricingProblem::Selection PricingProblem::nothing() const {
  return {{}, std::vector<double>(flows_.size(), 0), std::vector<int>(flows_.engine_count(), 0), 0};
}

Configuration PricingProblem::configuration_of(Selection const& selection) const {
  Configuration configuration{selection.flows, {}};
  for (auto const flow : selection.flows) configuration.rates.push_back(selection.rates[flow]);
  return configuration;
}

bool PricingProblem::fits(Selection const& selection, std::uint32_t flow) const {
  auto const& engines = flows_[flow].engines;
  return std::all_of(engines.begin(), engines.end(), [&](EngineId engine) {
    return selection.used_slots[index(engine)] + flows_[flow].slots_of(engine) <= flows_.slots(engine);
  });
}

// Flows in the order in which they should be tried: of the highest value alone first. `vary`: the values are multiplied
// by random factors, and with ForEachEngine divided by the number of engines that a flow holds.
PricingProblem::Flows PricingProblem::order_of(Vary vary) {
  std::uniform_real_distribution<double> factor(0.5, 1.0);
  std::vector<std::pair<double, std::uint32_t>> values;
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
    auto value = price_of(flow) * flows_[flow].rate;
    if (value <= 0) continue;
    if (vary == Vary::ForEachEngine)
      value /= static_cast<double>(std::max<std::size_t>(1, flows_[flow].engines.size()));
    values.emplace_back(vary == Vary::No ? value : value * factor(random_), flow);
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  Flows order;
  for (auto const& [value, flow] : values) order.push_back(flow);
  return order;
}

// Of the selected flows that hold an engine and are not to be removed yet.
std::optional<std::uint32_t> PricingProblem::least_valuable(Selection const& selection, EngineId engine) const {
  auto least = std::numeric_limits<double>::infinity();
  std::optional<std::uint32_t> found;
  for (auto const other : selection.flows) {
    auto const value = price_of(other) * selection.rates[other];
    if (value >= least || flows_[other].slots_of(engine) == 0 ||
        std::find(removed_.begin(), removed_.end(), other) != removed_.end())
      continue;
    found = other;
    least = value;
  }
  return found;
}

// Notes in removed_ which flows a new flow would displace: the least valuable ones that hold its engines. False: there
// is no room, or the set has many flows and the displaced ones are worth more.
bool PricingProblem::make_room(Selection const& selection, std::uint32_t flow) {
  removed_.clear();
  auto gain = price_of(flow) * flows_[flow].rate;
  for (auto const engine : flows_[flow].engines) {
    auto missing = selection.used_slots[index(engine)] + flows_[flow].slots_of(engine) - flows_.slots(engine);
    for (auto const other : removed_) missing -= flows_[other].slots_of(engine);
    while (missing > 0) {
      auto const out = least_valuable(selection, engine);
      if (!out) return false;
      gain -= price_of(*out) * selection.rates[*out];
      if (gain <= 0 && flows_.size() > kScheduleLimits.many_flows) return false;
      missing -= flows_[*out].slots_of(engine);
      removed_.push_back(*out);
    }
  }
  std::sort(removed_.begin(), removed_.end());
  return true;
}

// Moves the neighbours of a flow that were not reached before to affected_.
void PricingProblem::reach_neighbours(std::uint32_t flow) {
  auto const neighbours = flows_.neighbours(flow);
  for (std::size_t word = 0; word < unreached_.size(); ++word) {
    auto found = unreached_[word] & neighbours[word];
    unreached_[word] ^= found;
    for (; found != 0; found &= found - 1)
      affected_.push_back(
          static_cast<std::uint32_t>(word * kWordBits + static_cast<std::size_t>(std::countr_zero(found))));
  }
}

// Of the next flows, those whose rates may change: that share a resource with one that is added or removed, directly or
// through others.
void PricingProblem::find_affected(std::optional<std::uint32_t> added) {
  std::fill(unreached_.begin(), unreached_.end(), 0);
  for (auto const flow : next_) set_bit(unreached_, flow);
  affected_.clear();
  if (added) {  // itself, even if it shares nothing with any other
    affected_.push_back(*added);
    unreached_[*added / kWordBits] &= ~bit_of(*added);
  }
  for (auto const flow : removed_) reach_neighbours(flow);
  std::size_t at = 0;
  while (at < affected_.size()) reach_neighbours(affected_[at++]);  // which appends more
}

// Removes the flows in removed_ and adds one, if the selection is then worth more than `min_value`. Only the rates of
// affected flows are computed anew.
bool PricingProblem::replace(Selection& selection, std::optional<std::uint32_t> added, double min_value) {
  next_.clear();
  std::set_difference(selection.flows.begin(), selection.flows.end(), removed_.begin(), removed_.end(),
                      std::back_inserter(next_));
  if (added) next_.insert(std::lower_bound(next_.begin(), next_.end(), *added), *added);
  if (next_.empty()) return false;
  find_affected(added);
  auto unaffected = selection.value;
  double most = 0;  // that the affected flows can be worth
  for (auto const flow : removed_) unaffected -= price_of(flow) * selection.rates[flow];
  for (auto const flow : affected_) {
    unaffected -= price_of(flow) * selection.rates[flow];
    most += price_of(flow) * flows_[flow].rate;
  }
  if (unaffected + most <= min_value) return false;
  flows_.share(affected_);
  auto value = unaffected;
  for (auto const flow : affected_) value += price_of(flow) * flows_.rate(flow);
  if (value <= min_value) return false;
  for (auto const flow : removed_) {
    selection.rates[flow] = 0;
    for (auto const engine : flows_[flow].engines) --selection.used_slots[index(engine)];
  }
  if (added)
    for (auto const engine : flows_[*added].engines) ++selection.used_slots[index(engine)];
  for (auto const flow : affected_) selection.rates[flow] = flows_.rate(flow);
  selection.flows = next_;
  selection.value = 0;  // summed anew, or rounding errors would add up
  for (auto const flow : selection.flows) selection.value += price_of(flow) * selection.rates[flow];
  return true;
}

// Removes a selected flow, or adds one that is not selected, if that increases the value.
bool PricingProblem::toggle(Selection& selection, std::uint32_t flow) {
  constexpr double kMoreThanRounding = 1 + 1e-9;
  if (std::binary_search(selection.flows.begin(), selection.flows.end(), flow)) {
    removed_.assign(1, flow);
    return replace(selection, std::nullopt, selection.value * kMoreThanRounding);
  }
  return make_room(selection, flow) && replace(selection, flow, selection.value * kMoreThanRounding);
}

void PricingProblem::local_search(Selection& selection, Flows const& order) {
  std::size_t in_vain = 0;  // flows tried since the last gain
  for (std::size_t at = 0; in_vain < order.size(); at = (at + 1) % order.size())
    in_vain = toggle(selection, order[at]) ? 0 : in_vain + 1;
}

// Removes random flows.
void PricingProblem::perturb(Selection& selection) {
  removed_.clear();
  auto left = selection.flows;
  for (int n = 0; n < kScheduleLimits.flows_removed && left.size() > 1; ++n) {
    auto const at = left.begin() + static_cast<std::ptrdiff_t>(random_() % left.size());
    removed_.push_back(*at);
    left.erase(at);
  }
  std::sort(removed_.begin(), removed_.end());
  replace(selection, std::nullopt, 0);
}

Configuration PricingProblem::solve(std::vector<double> const& prices, std::vector<Configuration>& others,
                                    int perturbations) {
  prices_ = &prices;
  auto const order = order_of(Vary::No);
  auto best = nothing();
  for (auto const flow : order)
    if (fits(best, flow)) toggle(best, flow);
  local_search(best, order);
  if (best.flows.empty()) return {};
  for (int n = 0; n < perturbations; ++n) {
    auto next = best;
    perturb(next);
    local_search(next, order_of(n % 2 == 0 ? Vary::ForEachEngine : Vary::ByItself));
    if (next.value < kScheduleLimits.min_kept_value * best.value) continue;
    if (next.value >= best.value) best = next;
    others.push_back(configuration_of(next));
  }
  return configuration_of(best);
}

}  // namespace lanewise
