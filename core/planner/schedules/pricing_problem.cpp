#include "core/planner/schedules/pricing_problem.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "core/solver/linear_program.hpp"
#include "core/units/bits.hpp"

namespace lanewise {
namespace {

constexpr int kKicks = 100;  // how often small changes begin again, from the best so far without so many lanes
constexpr int kKickedOut = 2;
constexpr double kWorthKeeping = 0.9;  // of the most that is found on the way
// Of more lanes, one that is worth less by itself than what it would take the place of is not tried.
constexpr std::size_t kManyLanes = 100;

std::vector<double> capacities_of(Model const& model) {
  std::vector<double> capacities;
  for (std::size_t r = 0; r < model.resources().count(); ++r) {
    auto const capacity = model.capacity(ResourceId(r));
    capacities.push_back(capacity ? capacity->value() / kGigabyteASecond : kUnlimited.value());
  }
  return capacities;
}

int held_by(CandidateFlow const& lane, EngineId engine) {
  return static_cast<int>(std::count(lane.engines.begin(), lane.engines.end(), engine));
}

}  // namespace

PricingProblem::PricingProblem(TransferSet const& set, Model const& model, unsigned seed)
    : model_(model), sharing_(capacities_of(model)), random_(seed) {
  for (std::size_t i = 0; i < set.transfers.size(); ++i)
    for (std::size_t o = 0; o < set.transfers[i].options.size(); ++o) {
      auto const& option = set.transfers[i].options[o];
      lanes_.push_back({i, o, option.rate.value() / kGigabyteASecond, option.demand.latency() / Seconds(kMillisecond),
                        option.demand.engines});
      auto& uses = uses_.emplace_back();
      for (auto const& use : option.demand.uses)
        uses.push_back({static_cast<std::uint32_t>(index(use.resource)), use.weight.ratio()});
    }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) flows_.push_back({uses_[lane], lanes_[lane].rate, 0});
  auto const never = never_binding(sharing_.capacities(), flows_);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    std::erase_if(uses_[lane], [&](Sharing::Use const& use) { return never[use.resource]; });
    flows_[lane].uses = uses_[lane];
  }
  words_ = words_for(lanes_.size());
  apart_.assign(words_, 0);
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    auto& bits = near_.emplace_back(words_, 0);
    for (std::uint32_t other = 0; other < lanes_.size(); ++other)
      if (are_near(lane, other)) set_bit(bits, other);
  }
}

bool PricingProblem::are_near(std::uint32_t lane, std::uint32_t other) const {
  return std::any_of(uses_[lane].begin(), uses_[lane].end(), [&](Sharing::Use const& use) {
    return std::any_of(uses_[other].begin(), uses_[other].end(),
                       [&](Sharing::Use const& of_other) { return of_other.resource == use.resource; });
  });
}

void PricingProblem::set_speed(std::uint32_t lane, double rate, double latency) {
  lanes_[lane].rate = rate;
  lanes_[lane].latency = latency;
  flows_[lane].cap = rate;
}

void PricingProblem::share(Configuration& configuration) {
  flowing_.clear();
  for (auto const lane : configuration.lanes) flowing_.push_back(&flows_[lane]);
  sharing_.share(flowing_);
  configuration.rates.clear();
  for (auto const lane : configuration.lanes) configuration.rates.push_back(flows_[lane].rate);
}

double PricingProblem::worth_of(Configuration const& configuration, std::vector<double> const& prices) const {
  double worth = 0;
  for (std::size_t k = 0; k < configuration.lanes.size(); ++k)
    worth += prices[lanes_[configuration.lanes[k]].transfer] * configuration.rates[k];
  return worth;
}

PricingProblem::Selection PricingProblem::nothing() const {
  return {{}, std::vector<double>(lanes_.size(), 0), std::vector<int>(model_.resources().engine_count(), 0), 0};
}

Configuration PricingProblem::configuration_of(Selection const& mix) const {
  Configuration configuration{mix.lanes, {}};
  for (auto const lane : mix.lanes) configuration.rates.push_back(mix.rates[lane]);
  return configuration;
}

bool PricingProblem::fits(Selection const& mix, std::uint32_t lane) const {
  auto const& engines = lanes_[lane].engines;
  return std::all_of(engines.begin(), engines.end(), [&](EngineId engine) {
    return mix.held[index(engine)] + held_by(lanes_[lane], engine) <= model_.resources().at(engine).slots;
  });
}

// Lanes in the order in which they should be tried: those that are worth most by themselves first. `vary`: a little
// differently every time, by themselves or for each engine that they hold.
PricingProblem::Lanes PricingProblem::order_of(Vary vary) {
  std::uniform_real_distribution<double> chance(0.5, 1.0);
  std::vector<std::pair<double, std::uint32_t>> worth;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    auto value = price_of(lane) * lanes_[lane].rate;
    if (value <= 0) continue;
    if (vary == Vary::ForEachEngine)
      value /= static_cast<double>(std::max<std::size_t>(1, lanes_[lane].engines.size()));
    worth.emplace_back(vary == Vary::No ? value : value * chance(random_), lane);
  }
  std::sort(worth.begin(), worth.end(), std::greater<>());
  Lanes order;
  for (auto const& [value, lane] : worth) order.push_back(lane);
  return order;
}

// Notes which lanes a lane would take the place of: those least worth that hold its engines. False: there is no room,
// or these are worth more than it and there are many lanes.
bool PricingProblem::make_room(Selection const& mix, std::uint32_t lane) {
  removed_.clear();
  auto gain = price_of(lane) * lanes_[lane].rate;
  for (auto const engine : lanes_[lane].engines) {
    auto missing = mix.held[index(engine)] + held_by(lanes_[lane], engine) - model_.resources().at(engine).slots;
    for (auto const other : removed_) missing -= held_by(lanes_[other], engine);
    while (missing > 0) {
      auto least = std::numeric_limits<double>::infinity();
      std::optional<std::uint32_t> out;
      for (auto const other : mix.lanes) {
        auto const worth = price_of(other) * mix.rates[other];
        if (worth >= least || held_by(lanes_[other], engine) == 0 ||
            std::find(removed_.begin(), removed_.end(), other) != removed_.end())
          continue;
        out = other;
        least = worth;
      }
      if (!out) return false;
      gain -= least;
      if (gain <= 0 && lanes_.size() > kManyLanes) return false;
      missing -= held_by(lanes_[*out], engine);
      removed_.push_back(*out);
    }
  }
  std::sort(removed_.begin(), removed_.end());
  return true;
}

// Notes those of the next lanes that have something in common with a lane and were not reached before.
void PricingProblem::reach(std::uint32_t lane) {
  for (std::size_t word = 0; word < words_; ++word) {
    auto found = apart_[word] & near_[lane][word];
    apart_[word] ^= found;
    for (; found != 0; found &= found - 1)
      reached_.push_back(
          static_cast<std::uint32_t>(word * kWordBits + static_cast<std::size_t>(std::countr_zero(found))));
  }
}

// Takes out what was noted, and a lane in, where the mix is worth more than `least` then. Rates change only of what
// those that come and go have, over others or not, something in common with.
bool PricingProblem::replace(Selection& mix, std::optional<std::uint32_t> added, double least) {
  next_.clear();
  std::set_difference(mix.lanes.begin(), mix.lanes.end(), removed_.begin(), removed_.end(), std::back_inserter(next_));
  if (added) next_.insert(std::lower_bound(next_.begin(), next_.end(), *added), *added);
  if (next_.empty()) return false;
  std::fill(apart_.begin(), apart_.end(), 0);
  for (auto const lane : next_) set_bit(apart_, lane);
  reached_.clear();
  if (added) {  // itself, even where it has nothing in common with anything
    reached_.push_back(*added);
    apart_[*added / kWordBits] &= ~bit_of(*added);
  }
  for (auto const lane : removed_) reach(lane);
  std::size_t at = 0;
  while (at < reached_.size()) reach(reached_[at++]);  // which adds more
  auto rest = mix.worth;
  double most = 0;  // that those reached can be worth
  for (auto const lane : removed_) rest -= price_of(lane) * mix.rates[lane];
  for (auto const lane : reached_) {
    rest -= price_of(lane) * mix.rates[lane];
    most += price_of(lane) * flows_[lane].cap;
  }
  if (rest + most <= least) return false;
  flowing_.clear();
  for (auto const lane : reached_) flowing_.push_back(&flows_[lane]);
  sharing_.share(flowing_);
  auto worth = rest;
  for (auto const lane : reached_) worth += price_of(lane) * flows_[lane].rate;
  if (worth <= least) return false;
  for (auto const lane : removed_) {
    mix.rates[lane] = 0;
    for (auto const engine : lanes_[lane].engines) --mix.held[index(engine)];
  }
  if (added)
    for (auto const engine : lanes_[*added].engines) ++mix.held[index(engine)];
  for (auto const lane : reached_) mix.rates[lane] = flows_[lane].rate;
  mix.lanes = next_;
  mix.worth = 0;  // summed anew, or what rounding leaves would pile up
  for (auto const lane : mix.lanes) mix.worth += price_of(lane) * mix.rates[lane];
  return true;
}

// Tries to do without a lane, or with it.
bool PricingProblem::change(Selection& mix, std::uint32_t lane) {
  constexpr double kMore = 1 + 1e-9;
  if (std::binary_search(mix.lanes.begin(), mix.lanes.end(), lane)) {
    removed_.assign(1, lane);
    return replace(mix, std::nullopt, mix.worth * kMore);
  }
  return make_room(mix, lane) && replace(mix, lane, mix.worth * kMore);
}

// By small changes for as long as one helps.
void PricingProblem::local_search(Selection& from, Lanes const& order) {
  for (bool better = true; better;) {
    better = false;
    for (auto const lane : order) better = change(from, lane) || better;
  }
}

// Greedily, then by small changes, and again and again by such without some lanes of the best: where small changes
// alone end is up to a sixth below the most of eight MI60.
Configuration PricingProblem::solve(std::vector<double> const& prices, std::vector<Configuration>& others) {
  prices_ = &prices;
  auto const order = order_of(Vary::No);
  auto best = nothing();
  for (auto const lane : order)
    if (fits(best, lane)) change(best, lane);
  local_search(best, order);
  if (best.lanes.empty()) return {};
  for (int perturbation = 0; perturbation < kKicks; ++perturbation) {
    auto next = best;
    removed_.clear();
    auto left = best.lanes;
    for (int out = 0; out < kKickedOut && left.size() > 1; ++out) {
      auto const at = left.begin() + static_cast<std::ptrdiff_t>(random_() % left.size());
      removed_.push_back(*at);
      left.erase(at);
    }
    std::sort(removed_.begin(), removed_.end());
    replace(next, std::nullopt, 0);
    local_search(next, order_of(perturbation % 2 == 0 ? Vary::ForEachEngine : Vary::ByItself));
    if (next.worth < kWorthKeeping * best.worth) continue;
    if (next.worth >= best.worth) best = next;
    others.push_back(configuration_of(next));
  }
  return configuration_of(best);
}

}  // namespace lanewise
