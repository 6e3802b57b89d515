#include "core/planner/configurations.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/planner/configuration_bound.hpp"
#include "core/planner/demands.hpp"

namespace lanewise {
namespace {

constexpr double kGigabyteASecond = kMegabyte / kMillisecond;

constexpr int kMostRounds = 60;
constexpr int kMoreRounds = 30;  // with the configurations of an earlier answer
constexpr int kAttempts = 2;     // configurations looked for in a round
constexpr int kKicks = 30;       // how often each, from the best so far without so many lanes
constexpr int kKickedOut = 2;
constexpr double kWorthKeeping = 0.9;  // of the most that is found on the way
// So close to what no timetable beats, as far as the search can tell, it is short enough.
constexpr double kShortEnough = 0.003;

// Of more configurations the program has so many that are worth most at the prices last looked for, and those in use.
constexpr std::size_t kManyConfigurations = 300;

// In so many orders, and these from behind.
constexpr std::size_t kOrders = 4;
// What a start counts for where few slices are wanted.
constexpr double kThrifts[] = {1, 2, 4};
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

}  // namespace

ConfigurationProgram::ConfigurationProgram(TransferSet const& set, Model const& model)
    : set_(set), model_(model), sharing_(capacities_of(model)) {
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto const& transfer = set.transfers[i];
    bytes_.push_back(static_cast<double>(transfer.bytes.value()) / kMegabyte);
    for (std::size_t o = 0; o < transfer.options.size(); ++o) {
      auto const& option = transfer.options[o];
      lanes_.push_back({i, o, option.rate.value() / kGigabyteASecond, option.demand.latency() / Seconds(kMillisecond),
                        option.demand.engines});
      auto& uses = uses_.emplace_back();
      for (auto const& use : option.demand.uses)
        uses.push_back({static_cast<std::uint32_t>(index(use.resource)), use.weight.ratio()});
    }
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) flows_.push_back({uses_[lane], lanes_[lane].rate, 0});
  auto const never = never_full_first(sharing_.capacities(), flows_);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    std::erase_if(uses_[lane], [&](Sharing::Use const& use) { return never[use.resource]; });
    flows_[lane].uses = uses_[lane];
  }
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane)
    if (lanes_[lane].option == set.usual[lanes_[lane].transfer]) add({{lane}, {flows_[lane].cap}});
}

void ConfigurationProgram::set_pieces(std::vector<Shares> const& bytes, bool beside) {
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane)
    if (auto const piece = bytes[lanes_[lane].transfer][lanes_[lane].option]; piece > 0)
      set_piece(lane, Bytes(std::max<std::int64_t>(1, static_cast<std::int64_t>(piece))), beside);
  for (auto& configuration : configurations_) share(configuration);
}

void ConfigurationProgram::set_piece(std::uint32_t lane, Bytes bytes, bool beside) {
  auto const& transfer = set_.transfers[lanes_[lane].transfer];
  auto const& option = transfer.options[lanes_[lane].option];
  auto way = option.way;
  if (bytes < transfer.bytes) way.chunk = chunk_of_piece(model_, transfer, option, bytes, /*is_divided=*/true);
  Step const step{transfer.id, transfer.from, transfer.to, bytes, transfer.op, way, {}};
  auto const demand = beside ? demand_beside_others(model_, step) : demand_of(model_, step);
  auto const cost = model_.cost(demand, bytes);
  lanes_[lane].latency = demand.latency() / Seconds(kMillisecond);
  lanes_[lane].rate = cost ? (bytes / cost->time).value() / kGigabyteASecond : 0;
  flows_[lane].cap = lanes_[lane].rate;
}

double ConfigurationProgram::worth_of_all(std::vector<double> const& prices) const {
  return std::inner_product(prices.begin(), prices.end(), bytes_.begin(), 0.0);
}

double ConfigurationProgram::most_known(std::vector<double> const& prices) const {
  double most = 0;
  for (auto const& configuration : configurations_) most = std::max(most, worth_of(configuration, prices));
  return most;
}

std::optional<ConfigurationProgram::Answer> ConfigurationProgram::generate() {
  Answer found;
  double least = 0;  // what no timetable beats, as far as the search can tell
  std::vector<double> lasts;
  std::vector<double> prices(bytes_.size(), 0);
  auto const rounds = std::exchange(has_answered_, true) ? kMoreRounds : kMostRounds;
  for (int round = 0; round < rounds; ++round) {
    auto answer = shortest(likely(lasts, prices), {});
    if (!answer) return std::nullopt;
    lasts = std::move(answer->x);
    found.makespan = std::accumulate(lasts.begin(), lasts.end(), 0.0);
    if (found.makespan <= least * (1 + kShortEnough)) break;
    // The program's own prices jump; half way to them from those that told most so far it finds its way sooner.
    prices = answer->duals;
    for (std::size_t i = 0; i < found.prices.size(); ++i) prices[i] = (prices[i] + found.prices[i]) / 2;
    for (auto& price : prices) price = std::max(0.0, price);
    auto const before = configurations_.size();
    auto most = most_known(prices);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto best = worth_most(prices, attempt);
      most = std::max(most, best.worth);
      add(std::move(best.configuration));
    }
    if (auto const owed = worth_of_all(prices); owed > least * most) {
      least = owed / most;
      found.prices = prices;
      found.most = most;
    } else if (configurations_.size() == before) {
      found.prices = answer->duals;
      found.most = most_known(found.prices);
    }
  }
  return found;
}

std::vector<Timetable> ConfigurationProgram::solve() {
  std::vector<Timetable> timetables;
  auto const answer = generate();
  auto const last = answer ? shortest(all(), {}) : std::nullopt;
  if (!last) return timetables;
  for (auto const thrift : kThrifts) {
    auto const lasts = lasting(last->x, answer->makespan, thrift);
    if (!lasts) continue;
    std::set<std::vector<std::size_t>> lines;
    for (std::size_t order = 0; order < kOrders; ++order) {
      auto line = in_line(*lasts, order);
      lines.emplace(line.rbegin(), line.rend());
      lines.insert(std::move(line));
    }
    for (auto const& line : lines) timetables.push_back(timetable(*lasts, line));
  }
  return timetables;
}

Seconds ConfigurationProgram::least() {
  auto const answer = generate();
  if (!answer || answer->prices.empty()) return Seconds(0);
  std::vector<PricedLane> lanes;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    lanes.push_back({uses_[lane], lanes_[lane].engines, lanes_[lane].rate, answer->prices[lanes_[lane].transfer]});
  auto const most = most_worth(lanes, model_, sharing_.capacities(), answer->most);
  return most > 0 ? Seconds(worth_of_all(answer->prices) / most * kMillisecond) : Seconds(0);
}

// Sets the rates of a configuration.
void ConfigurationProgram::share(Configuration& configuration) {
  flowing_.clear();
  for (auto const lane : configuration.lanes) flowing_.push_back(&flows_[lane]);
  sharing_.share(flowing_);
  configuration.rates.clear();
  for (auto const lane : configuration.lanes) configuration.rates.push_back(flows_[lane].rate);
}
// What it moves in a millisecond, at these prices.
double ConfigurationProgram::worth_of(Configuration const& configuration, std::vector<double> const& prices) const {
  double worth = 0;
  for (std::size_t k = 0; k < configuration.lanes.size(); ++k)
    worth += prices[lanes_[configuration.lanes[k]].transfer] * configuration.rates[k];
  return worth;
}

// How many slots an engine has too few for a lane beside a configuration.
int ConfigurationProgram::missing(EngineId engine, Configuration const& configuration, std::uint32_t lane) const {
  auto const held = [&](std::uint32_t by) {
    return static_cast<int>(std::count(lanes_[by].engines.begin(), lanes_[by].engines.end(), engine));
  };
  auto slots = held(lane) - model_.resources().at(engine).slots;
  for (auto const other : configuration.lanes) slots += held(other);
  return slots;
}
bool ConfigurationProgram::fits(Configuration const& configuration, std::uint32_t lane) const {
  return std::all_of(lanes_[lane].engines.begin(), lanes_[lane].engines.end(),
                     [&](EngineId engine) { return missing(engine, configuration, lane) <= 0; });
}

// Lanes in the order in which they should be tried: those that are worth most by themselves, or for each engine, first,
// but every attempt a little differently.
ConfigurationProgram::Order ConfigurationProgram::order_of(std::vector<double> const& prices, int attempt) {
  std::uniform_real_distribution<double> chance(0.5, 1.0);
  std::vector<std::pair<double, std::uint32_t>> worth;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    auto value = prices[lanes_[lane].transfer] * lanes_[lane].rate;
    if (value <= 0) continue;
    if (attempt % 2 == 1) value /= static_cast<double>(std::max<std::size_t>(1, lanes_[lane].engines.size()));
    worth.emplace_back(attempt == 0 ? value : value * chance(random_), lane);
  }
  std::sort(worth.begin(), worth.end(), std::greater<>());
  Order order;
  for (auto const& [value, lane] : worth) order.push_back(lane);
  return order;
}

// Takes other lanes where these are worth more.
bool ConfigurationProgram::take(Priced& best, std::vector<std::uint32_t> lanes, std::vector<double> const& prices) {
  constexpr double kMore = 1 + 1e-9;
  Priced next{{std::move(lanes), {}}, 0};
  share(next.configuration);
  next.worth = worth_of(next.configuration, prices);
  if (next.worth <= best.worth * kMore) return false;
  best = std::move(next);
  return true;
}

// Tries to do without a lane, or with it.
bool ConfigurationProgram::change(Priced& best, std::uint32_t lane, std::vector<double> const& prices) {
  auto lanes = best.configuration.lanes;
  auto const at = std::lower_bound(lanes.begin(), lanes.end(), lane);
  if (at != lanes.end() && *at == lane) {
    lanes.erase(at);
  } else if (fits(best.configuration, lane)) {
    lanes.insert(at, lane);
  } else {
    lanes = in_place_of_others(best, lane, prices);
  }
  return !lanes.empty() && take(best, std::move(lanes), prices);
}

// The lane, and all others but those least worth that hold its engines. None where these are worth more than it.
std::vector<std::uint32_t> ConfigurationProgram::in_place_of_others(Priced const& best, std::uint32_t lane,
                                                                    std::vector<double> const& prices) const {
  auto left = best.configuration;
  auto gain = prices[lanes_[lane].transfer] * lanes_[lane].rate;
  for (auto const engine : lanes_[lane].engines)
    while (missing(engine, left, lane) > 0) {
      std::size_t least = left.lanes.size();
      auto least_worth = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < left.lanes.size(); ++k) {
        auto const& other = lanes_[left.lanes[k]];
        auto const worth = prices[other.transfer] * left.rates[k];
        if (worth >= least_worth ||
            std::find(other.engines.begin(), other.engines.end(), engine) == other.engines.end())
          continue;
        least = k;
        least_worth = worth;
      }
      if (least == left.lanes.size()) return {};
      gain -= least_worth;
      if (gain <= 0 && lanes_.size() > kManyLanes) return {};
      left.lanes.erase(left.lanes.begin() + static_cast<std::ptrdiff_t>(least));
      left.rates.erase(left.rates.begin() + static_cast<std::ptrdiff_t>(least));
    }
  left.lanes.insert(std::lower_bound(left.lanes.begin(), left.lanes.end(), lane), lane);
  return left.lanes;
}

// By small changes for as long as one helps.
void ConfigurationProgram::climb(Priced& from, Order const& order, std::vector<double> const& prices) {
  for (bool better = true; better;) {
    better = false;
    for (auto const lane : order) better = change(from, lane, prices) || better;
  }
}

// Greedily, then by small changes, and again and again by such without some lanes of the best: where small changes
// alone end is up to a sixth below the most of eight MI60. What is found on the way joins the program, if it is worth
// about as much.
ConfigurationProgram::Priced ConfigurationProgram::worth_most(std::vector<double> const& prices, int attempt) {
  auto const order = order_of(prices, attempt);
  Priced best;
  for (auto const lane : order)
    if (fits(best.configuration, lane)) change(best, lane, prices);
  climb(best, order, prices);
  for (int kick = 0; kick < kKicks; ++kick) {
    Priced next;
    auto lanes = best.configuration.lanes;
    for (int out = 0; out < kKickedOut && lanes.size() > 1; ++out)
      lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(random_() % lanes.size()));
    if (!lanes.empty()) take(next, std::move(lanes), prices);
    climb(next, order_of(prices, 1 + kick % 2), prices);
    if (next.worth < kWorthKeeping * best.worth) continue;
    if (next.worth >= best.worth) best = next;
    add(std::move(next.configuration));
  }
  return best;
}

void ConfigurationProgram::add(Configuration configuration) {
  if (!configuration.lanes.empty() && known_.insert(configuration.lanes).second)
    configurations_.push_back(std::move(configuration));
}

std::vector<std::size_t> ConfigurationProgram::all() const {
  std::vector<std::size_t> all(configurations_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Those that may be in use in the next answer. `lasts`: the last one, or none.
std::vector<std::size_t> ConfigurationProgram::likely(std::vector<double> const& lasts,
                                                      std::vector<double> const& prices) const {
  if (lasts.empty() || configurations_.size() <= kManyConfigurations) return all();
  std::vector<std::size_t> some;
  std::vector<std::pair<double, std::size_t>> others;
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    bool const is_usual = c < bytes_.size();             // of one transfer: there is an answer with these
    if (is_usual || (c < lasts.size() && lasts[c] > 0))  // others came since
      some.push_back(c);
    else
      others.emplace_back(-worth_of(configurations_[c], prices), c);
  }
  auto const count = std::min(others.size(), kManyConfigurations);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count), others.end());
  for (std::size_t k = 0; k < count; ++k) some.push_back(others[k].second);
  std::sort(some.begin(), some.end());
  return some;
}

// How long each configuration lasts, in milliseconds, where only some do. `costs`: of a millisecond of each; empty: 1.
std::optional<LinearSolution> ConfigurationProgram::shortest(std::vector<std::size_t> const& some,
                                                             std::vector<double> const& costs) const {
  LinearProgram program;
  for (auto const bytes : bytes_) program.add_row({.at_least = bytes});
  for (auto const c : some) {
    auto const& [lanes, rates] = configurations_[c];
    std::map<std::size_t, double> moved;
    for (std::size_t k = 0; k < lanes.size(); ++k) moved[lanes_[lanes[k]].transfer] += rates[k];
    for (auto const& [transfer, rate] : moved) program.entries.push_back({static_cast<int>(transfer), rate});
    program.end_column(costs.empty() ? 1 : costs[c]);
  }
  auto answer = lanewise::solve(program);
  if (!answer) return answer;
  std::vector<double> lasts(configurations_.size(), 0);
  for (std::size_t k = 0; k < some.size(); ++k) lasts[some[k]] = answer->x[k];
  answer->x = std::move(lasts);
  return answer;
}

// How long they last where few are wanted: each also costs `thrift` times what its lanes take to start in the mean. A
// cost that comes once is spread over the time that the last answer had for it; `lasts` is the first.
std::optional<std::vector<double>> ConfigurationProgram::lasting(std::vector<double> lasts, double makespan,
                                                                 double thrift) const {
  constexpr int kTimes = 4;
  constexpr double kShortest = 0.005;  // of the makespan: what is not in use may come in use
  for (int time = 0; time < kTimes; ++time) {
    std::vector<double> costs;
    for (std::size_t c = 0; c < configurations_.size(); ++c) {
      double starts = 0;
      for (auto const lane : configurations_[c].lanes) starts += lanes_[lane].latency;
      starts /= static_cast<double>(configurations_[c].lanes.size());
      costs.push_back(1 + thrift * starts / std::max(lasts[c], kShortest * makespan));
    }
    auto answer = shortest(all(), costs);
    if (!answer) return std::nullopt;
    lasts = std::move(answer->x);
  }
  return lasts;
}

// What the lanes of both need not start again, in milliseconds.
double ConfigurationProgram::saved_between(std::size_t one, std::size_t other) const {
  auto const& a = configurations_[one].lanes;
  auto const& b = configurations_[other].lanes;
  std::vector<std::uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  double starts = 0;
  for (auto const lane : both) starts += lanes_[lane].latency;
  return starts;
}

// Those in use in an order in which starts are saved by what goes on from one to the next: from one of them on that
// with most such of those left, then stretches the other way round where that helps. `order`: from which one on, and so
// which of several such.
std::vector<std::size_t> ConfigurationProgram::in_line(std::vector<double> const& lasts, std::size_t order) const {
  constexpr double kNothing = 1e-6;  // milliseconds
  constexpr double kMore = 1e-9;
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < lasts.size(); ++c)
    if (lasts[c] > kNothing) used.push_back(c);
  auto const count = used.size();
  if (count == 0) return used;
  std::vector<std::vector<double>> saved(count, std::vector<double>(count, 0));
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) saved[a][b] = saved_between(used[a], used[b]);
  std::vector<std::size_t> line(count);
  std::iota(line.begin(), line.end(), std::size_t{0});
  std::swap(line.front(), line[order * count / kOrders]);
  for (std::size_t at = 1; at < count; ++at)
    std::iter_swap(line.begin() + static_cast<std::ptrdiff_t>(at),
                   std::max_element(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(),
                                    [&](auto a, auto b) { return saved[line[at - 1]][a] < saved[line[at - 1]][b]; }));
  auto const meet = [&](std::size_t a, std::size_t b) { return b < count ? saved[line[a]][line[b]] : 0; };
  for (bool better = true; better;) {
    better = false;
    for (std::size_t first = 1; first < count; ++first)
      for (auto last = first + 1; last < count; ++last) {
        auto const turned =
            saved[line[first - 1]][line[last]] + (last + 1 < count ? saved[line[first]][line[last + 1]] : 0);
        if (turned <= meet(first - 1, first) + meet(last, last + 1) + kMore) continue;
        std::reverse(line.begin() + static_cast<std::ptrdiff_t>(first),
                     line.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        better = true;
      }
  }
  std::vector<std::size_t> result;
  for (auto const at : line) result.push_back(used[at]);
  return result;
}

Timetable ConfigurationProgram::timetable(std::vector<double> const& lasts,
                                          std::vector<std::size_t> const& line) const {
  Timetable timetable;
  auto left = bytes_;
  for (auto const c : line) {
    auto& slice = timetable.slices.emplace_back(Timetable::Slice{Seconds(lasts[c] * kMillisecond), {}});
    for (std::size_t k = 0; k < configurations_[c].lanes.size(); ++k) {
      auto const& lane = lanes_[configurations_[c].lanes[k]];
      auto const bytes = std::min(configurations_[c].rates[k] * lasts[c], left[lane.transfer]);
      if (bytes <= 0) continue;
      left[lane.transfer] -= bytes;
      slice.moving.push_back({lane.transfer, lane.option, bytes * kMegabyte});
    }
  }
  return timetable;
}

}  // namespace lanewise
