#include "core/planner/schedules/configuration_program.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/planner/bounds/configuration_bound.hpp"

namespace lanewise {
namespace {

constexpr int kMaxRounds = 60;
constexpr int kMoreRounds = 30;  // with the configurations of an earlier answer
// So close to what no schedule beats, as far as the search can tell, it is short enough.
constexpr double kShortEnough = 0.003;

// Of more configurations the program has so many that are worth most at the prices last looked for, and those in use.
constexpr std::size_t kManyConfigurations = 300;

// In so many orders, and these from behind.
constexpr std::size_t kOrders = 4;
// What a start counts for where few slices are wanted.
constexpr double kThrifts[] = {1, 2, 4};
}  // namespace

ConfigurationProgram::ConfigurationProgram(TransferSet const& set, Model const& model, unsigned seed)
    : set_(set), model_(model), search_(set, model, seed) {
  for (auto const& transfer : set.transfers) bytes_.push_back(static_cast<double>(transfer.bytes.value()) / kMegabyte);
  for (std::uint32_t lane = 0; lane < count(); ++lane)
    if (at(lane).option == set.default_option[at(lane).transfer]) add({{lane}, {at(lane).rate}});
}

void ConfigurationProgram::set_pieces(std::vector<Shares> const& bytes) {
  for (std::uint32_t lane = 0; lane < count(); ++lane)
    if (auto const piece = bytes[at(lane).transfer][at(lane).option]; piece > 0)
      set_piece(lane, Bytes(std::max<std::int64_t>(1, static_cast<std::int64_t>(piece))));
  for (auto& configuration : configurations_) search_.share(configuration);
}

void ConfigurationProgram::set_piece(std::uint32_t lane, Bytes bytes) {
  auto const& transfer = set_.transfers[at(lane).transfer];
  auto const& option = transfer.options[at(lane).option];
  auto way = option.way;
  if (bytes < transfer.bytes) way.chunk = chunk_of_piece(model_, transfer, option, bytes, /*is_divided=*/true);
  Step const step{transfer.id, transfer.from, transfer.to, bytes, transfer.op, way, {}};
  auto const demand = demand_with_busy_engines(model_, step);
  auto const cost = model_.cost(demand, bytes);
  search_.set_speed(lane, cost ? (bytes / cost->time).value() / kGigabyteASecond : 0,
                    demand.latency() / Seconds(kMillisecond));
}

double ConfigurationProgram::worth_of_all(std::vector<double> const& prices) const {
  return std::inner_product(prices.begin(), prices.end(), bytes_.begin(), 0.0);
}

double ConfigurationProgram::most_known(std::vector<double> const& prices) const {
  double most = 0;
  for (auto const& configuration : configurations_) most = std::max(most, search_.worth_of(configuration, prices));
  return most;
}

std::optional<ConfigurationProgram::Answer> ConfigurationProgram::generate() {
  Answer found;
  double least = 0;  // what no schedule beats, as far as the search can tell
  std::vector<double> lasts;
  std::vector<double> prices(bytes_.size(), 0);
  auto const rounds = std::exchange(has_answered_, true) ? kMoreRounds : kMaxRounds;
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
    std::vector<Configuration> others;
    auto best = search_.solve(prices, others);
    most = std::max(most, search_.worth_of(best, prices));
    for (auto& other : others) add(std::move(other));
    add(std::move(best));
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

std::vector<Schedule> ConfigurationProgram::solve() {
  std::vector<Schedule> schedules;
  auto const answer = generate();
  auto const last = answer ? shortest(all(), {}) : std::nullopt;
  if (!last) return schedules;
  for (auto const setup_cost_weight : kThrifts) {
    auto const lasts = lasting(last->x, answer->makespan, setup_cost_weight);
    if (!lasts) continue;
    std::set<std::vector<std::size_t>> lines;
    for (std::size_t order = 0; order < kOrders; ++order) {
      auto line = in_line(*lasts, order);
      lines.emplace(line.rbegin(), line.rend());
      lines.insert(std::move(line));
    }
    for (auto const& line : lines) schedules.push_back(schedule(*lasts, line));
  }
  return schedules;
}

Seconds ConfigurationProgram::least() {
  auto const answer = generate();
  if (!answer || answer->prices.empty()) return Seconds(0);
  std::vector<PricedOption> lanes;
  for (std::size_t lane = 0; lane < count(); ++lane)
    lanes.push_back({search_.uses(lane), at(lane).engines, at(lane).rate, answer->prices[at(lane).transfer]});
  auto const most = max_reduced_value(lanes, model_, search_.capacities(), answer->most);
  return most > 0 ? Seconds(worth_of_all(answer->prices) / most * kMillisecond) : Seconds(0);
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
      others.emplace_back(-search_.worth_of(configurations_[c], prices), c);
  }
  auto const count = std::min(others.size(), kManyConfigurations);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count), others.end());
  for (std::size_t k = 0; k < count; ++k) some.push_back(others[k].second);
  std::sort(some.begin(), some.end());
  return some;
}

// How long each configuration lasts, in milliseconds, where only some do. `costs`: of a millisecond of each; empty: 1.
std::optional<LinearSolution> ConfigurationProgram::shortest(std::vector<std::size_t> const& some,
                                                             std::vector<double> const& costs) {
  LinearProgram program;
  for (auto const bytes : bytes_) program.add_row({.lower = bytes});
  for (auto const c : some) {
    auto const& [lanes, rates] = configurations_[c];
    std::map<std::size_t, double> moved;
    for (std::size_t k = 0; k < lanes.size(); ++k) moved[at(lanes[k]).transfer] += rates[k];
    for (auto const& [transfer, rate] : moved) program.entries.push_back({static_cast<int>(transfer), rate});
    program.end_column(costs.empty() ? 1 : costs[c]);
  }
  basis_.columns.resize(configurations_.size(), BasisStatus::AtLower);
  Basis from{{}, basis_.rows};
  for (auto const c : some) from.columns.push_back(basis_.columns[c]);
  auto answer = lanewise::solve(program, from);
  if (!answer) return answer;
  basis_ = {std::vector<BasisStatus>(configurations_.size(), BasisStatus::AtLower), answer->basis.rows};
  for (std::size_t k = 0; k < some.size(); ++k) basis_.columns[some[k]] = answer->basis.columns[k];
  std::vector<double> lasts(configurations_.size(), 0);
  for (std::size_t k = 0; k < some.size(); ++k) lasts[some[k]] = answer->x[k];
  answer->x = std::move(lasts);
  return answer;
}

// How long they last where few are wanted: each also costs `thrift` times what its lanes take to start in the mean. A
// cost that comes once is spread over the time that the last answer had for it; `lasts` is the first.
std::optional<std::vector<double>> ConfigurationProgram::lasting(std::vector<double> lasts, double makespan,
                                                                 double setup_cost_weight) {
  constexpr int kTimes = 4;
  constexpr double kShortest = 0.005;  // of the makespan: what is not in use may come in use
  for (int time = 0; time < kTimes; ++time) {
    std::vector<double> costs;
    for (std::size_t c = 0; c < configurations_.size(); ++c) {
      double starts = 0;
      for (auto const lane : configurations_[c].lanes) starts += at(lane).latency;
      starts /= static_cast<double>(configurations_[c].lanes.size());
      costs.push_back(1 + setup_cost_weight * starts / std::max(lasts[c], kShortest * makespan));
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
  for (auto const lane : both) starts += at(lane).latency;
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

Schedule ConfigurationProgram::schedule(std::vector<double> const& lasts, std::vector<std::size_t> const& line) const {
  Schedule schedule;
  auto left = bytes_;
  for (auto const c : line) {
    auto& slice = schedule.slices.emplace_back(Schedule::Slice{Seconds(lasts[c] * kMillisecond), {}});
    for (std::size_t k = 0; k < configurations_[c].lanes.size(); ++k) {
      auto const& lane = at(configurations_[c].lanes[k]);
      auto const bytes = std::min(configurations_[c].rates[k] * lasts[c], left[lane.transfer]);
      if (bytes <= 0) continue;
      left[lane.transfer] -= bytes;
      slice.moving.push_back({lane.transfer, lane.option, bytes * kMegabyte});
    }
  }
  return schedule;
}

}  // namespace lanewise
