#include "core/estimate/sharing.hpp"

#include <algorithm>
#include <utility>

namespace lanewise {
namespace {

// A resource is never full if all flows at once, each at its rate alone, leave this part of it.
constexpr double kMinSpare = 0.01;

// The part of each capacity that all flows at once would take at the rates that they have alone.
std::vector<double> max_utilisations(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  std::vector<double> utilisation(capacities.size(), 0);
  for (auto const& flow : flows) {
    auto const alone = rate_alone(flow, capacities);
    for (auto const& use : flow.uses) utilisation[use.resource] += use.weight * alone / capacities[use.resource];
  }
  return utilisation;
}

}  // namespace

double rate_alone(Sharing::Flow const& flow, std::span<double const> capacities) {
  auto rate = flow.cap;
  for (auto const& use : flow.uses) rate = std::min(rate, capacities[use.resource] / use.weight);
  return rate;
}

void Sharing::share(std::span<Flow* const> flows) {
  ++share_;
  filling_.clear();
  for (auto const* flow : flows) {
    filling_.add_flow(flow->cap);
    for (auto const& use : flow->uses) {
      if (std::exchange(seen_[use.resource], share_) != share_)
        number_[use.resource] = filling_.add_resource(capacities_[use.resource]);
      filling_.add_use(number_[use.resource], use.weight);
    }
  }
  filling_.fill();
  for (std::size_t i = 0; i < flows.size(); ++i) flows[i]->rate = filling_.rates()[i];
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
