#include "core/planner/sets/load_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/planner/search_limits.hpp"

namespace lanewise {
namespace {

class LoadBalancer {
 public:
  LoadBalancer(std::span<SetMember const> set, Model const& model) : set_(set) {
    slot_of_resource_.assign(model.resources().count(), kNone);
    slot_of_engine_.assign(model.resources().engine_count(), kNone);
    for (auto const& member : set) add(*member.transfer, member.default_option, model);
  }

  LoadBalance run(std::span<int const> exponents) {
    for (auto const exponent : exponents) sweep(exponent);
    return {std::move(shares_), Seconds(longest_)};
  }
  bool is_within(double time) {
    for (auto const exponent : kSearchLimits.load_balance_exponents) {
      sweep(exponent);
      if (longest_ <= time) return true;
      if (lower_bound() > time) return false;
    }
    return false;
  }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  static constexpr double kNotKnown = -1;
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  struct Use {
    std::uint32_t slot = 0;  // of a resource or engine in load_ and costs_
    double seconds_per_byte = 0;
  };
  struct Option {
    std::vector<Use> uses;
    double seconds_per_byte = 0;  // alone
    double latency = 0;
  };

  std::uint32_t slot(std::uint32_t& known) {
    if (known == kNone) {
      known = static_cast<std::uint32_t>(load_.size());
      load_.push_back(0);
      costs_.push_back(kNotKnown);
    }
    return known;
  }

  void add(OpenTransfer const& transfer, std::size_t default_option, Model const& model) {
    auto& options = options_.emplace_back();
    auto const bytes = static_cast<double>(transfer.bytes.value());
    for (auto const& of_transfer : transfer.options) {
      auto& option = options.emplace_back();
      option.seconds_per_byte = 1 / of_transfer.rate.value();
      option.latency = of_transfer.demand.latency().value();
      for (auto const& use : of_transfer.demand.uses)
        if (auto const seconds = seconds_per_byte(model, use); seconds > 0)
          option.uses.push_back({slot(slot_of_resource_[index(use.resource)]), seconds});
      for (auto const engine : of_transfer.demand.engines)
        option.uses.push_back(
            {slot(slot_of_engine_[index(engine)]),
             (option.seconds_per_byte + option.latency / bytes) / model.resources().at(engine).slots});
    }
    auto& shares = shares_.emplace_back(transfer.options.size(), 0.0);
    shares[default_option] = bytes;
    add_load(options[default_option], bytes);
  }

  void add_load(Option const& option, double bytes) {
    for (auto const& use : option.uses) {
      load_[use.slot] += use.seconds_per_byte * bytes;
      costs_[use.slot] = kNotKnown;
    }
  }

  void sweep(int exponent) {
    exponent_ = exponent;
    for (int sweep = 0; sweep < kSearchLimits.max_load_balance_sweeps; ++sweep) {
      find_longest();
      bool moved = false;
      for (std::size_t i = 0; i < set_.size(); ++i) moved = improve(i) || moved;
      if (!moved) break;
    }
    find_longest();
  }

  // A time that no shares can beat, by linear programming duality with the current marginal costs as prices: every byte
  // pays at least the price of its cheapest option, and all resources together earn at most the sum of their prices in
  // a second.
  [[nodiscard]] double lower_bound() {
    double earned_per_second = 0;
    for (std::uint32_t slot = 0; slot < load_.size(); ++slot) earned_per_second += cost_of(slot);
    double owed = 0;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      auto cheapest = kNoLimit;
      for (auto const& option : options_[i]) cheapest = std::min(cheapest, cost_of(option, 0, cheapest));
      owed += cheapest * static_cast<double>(set_[i].transfer->bytes.value());
    }
    return owed / earned_per_second;
  }

  void find_longest() {
    std::fill(costs_.begin(), costs_.end(), kNotKnown);
    longest_ = *std::max_element(load_.begin(), load_.end());
    for (std::size_t i = 0; i < set_.size(); ++i)
      for (std::size_t o = 0; o < options_[i].size(); ++o)
        if (shares_[i][o] > 0) longest_ = std::max(longest_, time_alone(i, o, shares_[i][o]));
  }
  [[nodiscard]] double time_alone(std::size_t i, std::size_t o, double bytes) const {
    return options_[i][o].latency + bytes * options_[i][o].seconds_per_byte;
  }

  [[nodiscard]] double marginal_cost(double time) const {
    auto value = time / longest_;
    for (int k = 0; k < exponent_; ++k) value *= value;
    return value;
  }
  [[nodiscard]] double cost_of(std::uint32_t slot) {
    auto& known = costs_[slot];
    if (known == kNotKnown) known = marginal_cost(load_[slot]);
    return known;
  }
  // The marginal cost of a byte over this option. Stops adding at `enough`; the result is then at least that.
  [[nodiscard]] double cost(std::size_t i, std::size_t o, double bytes, double enough = kNoLimit) {
    auto const& option = options_[i][o];
    return cost_of(option, marginal_cost(time_alone(i, o, bytes)) * option.seconds_per_byte, enough);
  }
  // `already` plus what a byte costs on all that the option uses. Stops adding at `enough`.
  [[nodiscard]] double cost_of(Option const& option, double already, double enough) {
    for (auto use = option.uses.begin(); use != option.uses.end() && already < enough; ++use)
      already += cost_of(use->slot) * use->seconds_per_byte;
    return already;
  }

  struct Extremes {
    std::size_t dearest = kNone;  // of the options in use
    std::size_t cheapest = 0;     // of all
    double dearest_cost = -1;
    double cheapest_cost = kNoLimit;
  };
  [[nodiscard]] Extremes extremes(std::size_t i) {
    Extremes found;
    auto const& shares = shares_[i];
    for (bool const in_use : {true, false})
      for (std::size_t o = 0; o < shares.size(); ++o) {
        if (in_use != (shares[o] > 0)) continue;
        auto const here = in_use ? cost(i, o, shares[o]) : cost(i, o, shares[o], found.cheapest_cost);
        if (in_use && here > found.dearest_cost) {
          found.dearest = o;
          found.dearest_cost = here;
        }
        if (here < found.cheapest_cost) {
          found.cheapest = o;
          found.cheapest_cost = here;
        }
      }
    return found;
  }

  // Moves bytes from the dearest option in use to the cheapest, as many as leave the latter the cheaper one.
  bool improve(std::size_t i) {
    auto& shares = shares_[i];
    if (shares.size() < 2) return false;
    auto const [dear, cheap, dearest_cost, cheapest_cost] = extremes(i);
    if (dear == cheap || dearest_cost < cheapest_cost * kSearchLimits.min_cost_ratio_to_move) return false;
    auto const least = kSearchLimits.min_move * static_cast<double>(set_[i].transfer->bytes.value());
    for (auto bytes = shares[dear]; bytes > least; bytes /= 2) {
      add_load(options_[i][dear], -bytes);
      add_load(options_[i][cheap], bytes);
      if (cost(i, cheap, shares[cheap] + bytes) <= cost(i, dear, shares[dear] - bytes) ||
          (bytes == shares[dear] && cost(i, cheap, shares[cheap] + bytes) < dearest_cost)) {
        shares[dear] -= bytes;
        shares[cheap] += bytes;
        return true;
      }
      add_load(options_[i][dear], bytes);
      add_load(options_[i][cheap], -bytes);
    }
    return false;
  }

  std::span<SetMember const> set_;
  std::vector<std::uint32_t> slot_of_resource_;
  std::vector<std::uint32_t> slot_of_engine_;
  std::vector<double> load_;   // seconds, by slot
  std::vector<double> costs_;  // marginal costs, by slot; kNotKnown after the load changed
  std::vector<std::vector<Option>> options_;
  std::vector<Shares> shares_;
  double longest_ = 0;
  int exponent_ = 0;
};

}  // namespace

LoadBalance balance_load(std::span<SetMember const> set, Model const& model) {
  return LoadBalancer(set, model).run(kSearchLimits.load_balance_exponents);
}
LoadBalance balance_load_quickly(std::span<SetMember const> set, Model const& model) {
  return LoadBalancer(set, model).run({&kSearchLimits.quick_load_balance_exponent, 1});
}
bool can_balance_within(Seconds time, std::span<SetMember const> set, Model const& model) {
  return LoadBalancer(set, model).is_within(time.value());
}

}  // namespace lanewise
