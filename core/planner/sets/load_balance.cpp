#include "core/planner/sets/load_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanewise {
namespace {

// A piece below this share of its transfer, or one that takes longer to start than to flow, is not worth its start.
constexpr double kSmallestShare = 0.02;
// What a byte costs on something: (its time / the longest of all) to these powers, one after another. The higher, the
// more only the fullest count; beginning high would get stuck.
constexpr int kPowers[] = {3, 4, 5, 6};  // of two: 8, 16, 32, 64
constexpr int kRoughPower = 5;
constexpr int kSweeps = 6;

class LoadBalancer {
 public:
  LoadBalancer(std::span<SetMember const> set, Model const& model) : set_(set) {
    place_of_resource_.assign(model.resources().count(), kNone);
    place_of_engine_.assign(model.resources().engine_count(), kNone);
    for (auto const& member : set) add(*member.transfer, member.usual, model);
  }

  LoadBalance run(std::span<int const> powers) {
    for (auto const power : powers) sweep(power);
    return {std::move(shares_), Seconds(longest_)};
  }
  bool within(double time) {
    for (auto const power : kPowers) {
      sweep(power);
      if (longest_ <= time) return true;
      if (least() > time) return false;
    }
    return false;
  }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  static constexpr double kUnpriced = -1;
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  struct Take {
    std::uint32_t place = 0;
    double seconds_per_byte = 0;
  };
  struct Lane {  // an option
    std::vector<Take> takes;
    double seconds_per_byte = 0;  // alone
    double latency = 0;
  };

  std::uint32_t place(std::uint32_t& known) {
    if (known == kNone) {
      known = static_cast<std::uint32_t>(load_.size());
      load_.push_back(0);
      prices_.push_back(kUnpriced);
    }
    return known;
  }

  void add(OpenTransfer const& transfer, std::size_t usual, Model const& model) {
    auto& lanes = lanes_.emplace_back();
    auto const bytes = static_cast<double>(transfer.bytes.value());
    for (auto const& option : transfer.options) {
      auto& lane = lanes.emplace_back();
      lane.seconds_per_byte = 1 / option.rate.value();
      lane.latency = option.demand.latency().value();
      for (auto const& use : option.demand.uses)
        if (auto const capacity = model.capacity(use.resource))
          lane.takes.push_back(
              {place(place_of_resource_[index(use.resource)]), use.weight.ratio() / capacity->value()});
      for (auto const engine : option.demand.engines)
        lane.takes.push_back({place(place_of_engine_[index(engine)]),
                              (lane.seconds_per_byte + lane.latency / bytes) / model.resources().at(engine).slots});
    }
    auto& shares = shares_.emplace_back(transfer.options.size(), 0.0);
    shares[usual] = bytes;
    put(lanes[usual], bytes);
  }

  void put(Lane const& lane, double bytes) {
    for (auto const& take : lane.takes) {
      load_[take.place] += take.seconds_per_byte * bytes;
      prices_[take.place] = kUnpriced;
    }
  }

  void sweep(int power) {
    power_ = power;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      find_longest();
      bool moved = false;
      for (std::size_t i = 0; i < set_.size(); ++i) moved = improve(i) || moved;
      if (!moved) break;
    }
    find_longest();
  }

  // What no shares are through in: at these prices, or any, every byte pays at least its cheapest option, and in a
  // second everything together takes no more than its price.
  [[nodiscard]] double least() {
    double in_a_second = 0;
    for (std::uint32_t place = 0; place < load_.size(); ++place) in_a_second += price_of(place);
    double owed = 0;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      auto cheapest = kNoLimit;
      for (auto const& lane : lanes_[i]) cheapest = std::min(cheapest, price_of(lane, 0, cheapest));
      owed += cheapest * static_cast<double>(set_[i].transfer->bytes.value());
    }
    return owed / in_a_second;
  }

  void find_longest() {
    std::fill(prices_.begin(), prices_.end(), kUnpriced);
    longest_ = *std::max_element(load_.begin(), load_.end());
    for (std::size_t i = 0; i < set_.size(); ++i)
      for (std::size_t o = 0; o < lanes_[i].size(); ++o)
        if (shares_[i][o] > 0) longest_ = std::max(longest_, own_time(i, o, shares_[i][o]));
  }
  [[nodiscard]] double own_time(std::size_t i, std::size_t o, double bytes) const {
    return lanes_[i][o].latency + bytes * lanes_[i][o].seconds_per_byte;
  }

  [[nodiscard]] double price(double time) const {
    auto value = time / longest_;
    for (int k = 0; k < power_; ++k) value *= value;
    return value;
  }
  [[nodiscard]] double price_of(std::uint32_t place) {
    auto& known = prices_[place];
    if (known == kUnpriced) known = price(load_[place]);
    return known;
  }
  // What one more byte over this option costs; where that is `enough` or more, at least as much.
  [[nodiscard]] double cost(std::size_t i, std::size_t o, double bytes, double enough = kNoLimit) {
    auto const& lane = lanes_[i][o];
    return price_of(lane, price(own_time(i, o, bytes)) * lane.seconds_per_byte, enough);
  }
  // `already` and what a byte pays for all that the option takes of others; where that is `enough` or more, at least as
  // much.
  [[nodiscard]] double price_of(Lane const& lane, double already, double enough) {
    for (auto take = lane.takes.begin(); take != lane.takes.end() && already < enough; ++take)
      already += price_of(take->place) * take->seconds_per_byte;
    return already;
  }

  // Moves bytes from the dearest option in use to the cheapest, as far as that stays the cheaper one.
  bool improve(std::size_t i) {
    auto& shares = shares_[i];
    if (shares.size() < 2) return false;
    std::size_t dear = kNone;
    std::size_t cheap = 0;
    double dearest = -1;
    double cheapest = kNoLimit;
    for (bool const in_use : {true, false})
      for (std::size_t o = 0; o < shares.size(); ++o) {
        if (in_use != (shares[o] > 0)) continue;
        auto const here = in_use ? cost(i, o, shares[o]) : cost(i, o, shares[o], cheapest);
        if (in_use && here > dearest) {
          dear = o;
          dearest = here;
        }
        if (here < cheapest) {
          cheap = o;
          cheapest = here;
        }
      }
    constexpr double kWorthIt = 1.02;
    if (dear == cheap || dearest < cheapest * kWorthIt) return false;
    constexpr double kLeast = 1.0 / 256;
    for (auto bytes = shares[dear]; bytes > kLeast * static_cast<double>(set_[i].transfer->bytes.value()); bytes /= 2) {
      put(lanes_[i][dear], -bytes);
      put(lanes_[i][cheap], bytes);
      if (cost(i, cheap, shares[cheap] + bytes) <= cost(i, dear, shares[dear] - bytes) ||
          (bytes == shares[dear] && cost(i, cheap, shares[cheap] + bytes) < dearest)) {
        shares[dear] -= bytes;
        shares[cheap] += bytes;
        return true;
      }
      put(lanes_[i][dear], bytes);
      put(lanes_[i][cheap], -bytes);
    }
    return false;
  }

  std::span<SetMember const> set_;
  std::vector<std::uint32_t> place_of_resource_;
  std::vector<std::uint32_t> place_of_engine_;
  std::vector<double> load_;    // seconds
  std::vector<double> prices_;  // of what stands above it, where somebody asked since it changed
  std::vector<std::vector<Lane>> lanes_;
  std::vector<Shares> shares_;
  double longest_ = 0;
  int power_ = 0;
};

}  // namespace

LoadBalance balance_load(std::span<SetMember const> set, Model const& model) {
  return LoadBalancer(set, model).run(kPowers);
}
LoadBalance balance_load_quickly(std::span<SetMember const> set, Model const& model) {
  return LoadBalancer(set, model).run({&kRoughPower, 1});
}
bool can_balance_within(Seconds time, std::span<SetMember const> set, Model const& model) {
  return LoadBalancer(set, model).within(time.value());
}

bool is_worth_its_start(Model const& model, OpenTransfer const& transfer, TransferOption const& option, double bytes) {
  if (bytes < kSmallestShare * static_cast<double>(transfer.bytes.value())) return false;
  auto way = option.way;
  way.chunk = Bytes(0);
  Bytes const whole(static_cast<std::int64_t>(bytes));
  auto const demand = model.lower(transfer.from, transfer.to, whole, transfer.op, way);
  auto const cost = model.cost(demand, whole);
  return cost && whole / cost->rate >= demand.latency();
}

void drop_small_pieces(Model const& model, OpenTransfer const& transfer, Shares& shares) {
  auto const largest = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  for (std::size_t o = 0; o < shares.size(); ++o) {
    if (o == largest || shares[o] <= 0 || is_worth_its_start(model, transfer, transfer.options[o], shares[o])) continue;
    shares[largest] += shares[o];
    shares[o] = 0;
  }
}

}  // namespace lanewise
