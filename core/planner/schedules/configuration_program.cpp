#include "core/planner/schedules/configuration_program.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/planner/schedules/configuration_bound.hpp"
#include "core/planner/schedules/schedule_limits.hpp"
#include "core/planner/schedules/slice_order.hpp"

namespace lanewise {
namespace {

// Notes the makespan of a round. True: the last rounds shortened it by next to nothing.
bool has_stalled(std::vector<double>& makespans, double makespan) {
  makespans.push_back(makespan);
  auto const back = kScheduleLimits.stall_rounds;
  return makespans.size() > back &&
         makespans[makespans.size() - 1 - back] <= makespan * (1 + kScheduleLimits.min_gain_in_stall_rounds);
}

}  // namespace

ConfigurationProgram::ConfigurationProgram(TransferSet const& set, Model const& model, unsigned seed)
    : set_(set), model_(model), flows_(set, model), pricing_(flows_, seed) {
  for (auto const& transfer : set.transfers) bytes_.push_back(static_cast<double>(transfer.bytes.value()) / kMegabyte);
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow)
    if (flows_[flow].option == set.default_option[flows_[flow].transfer]) add({{flow}, {flows_[flow].rate}});
  transfers_.bytes = bytes_;
  transfers_.row.resize(bytes_.size());
  std::iota(transfers_.row.begin(), transfers_.row.end(), 0U);
  if (bytes_.size() <= kScheduleLimits.small_set) return;
  FlowSymmetries symmetries(set, model, flows_);
  if (symmetries.empty()) return;
  kinds_.row = symmetries.kinds();
  kinds_.bytes.resize(*std::max_element(kinds_.row.begin(), kinds_.row.end()) + 1, 0);
  for (std::size_t i = 0; i < bytes_.size(); ++i) kinds_.bytes[kinds_.row[i]] += bytes_[i];
  symmetries_ = std::move(symmetries);
}

void ConfigurationProgram::set_pieces(std::vector<Shares> const& bytes) {
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow)
    if (auto const piece = bytes[flows_[flow].transfer][flows_[flow].option]; piece > 0)
      set_piece(flow, Bytes(std::max<std::int64_t>(1, static_cast<std::int64_t>(piece))));
  for (auto& configuration : configurations_) flows_.share(configuration);
}

void ConfigurationProgram::set_piece(std::uint32_t flow, Bytes bytes) {
  Portion const piece{flows_[flow].transfer, flows_[flow].option, Bytes(0), bytes};
  auto const chunk = chunk_of(set_, model_, piece, /*is_divided=*/true);
  auto const demand = demand_with_busy_engines(model_, step_of(set_, piece, chunk));
  auto const cost = model_.cost(demand, bytes);
  flows_.set_speed(flow, cost ? (bytes / cost->time).value() / kGigabyteASecond : 0,
                   demand.latency() / Seconds(kMillisecond));
}

void ConfigurationProgram::add_configurations_of(Evaluation const& evaluation) {
  auto const first_flow = first_options(set_);
  for (auto const& begun : evaluation.run.steps) {
    std::set<std::uint32_t> running;
    for (std::size_t k = 0; k < evaluation.run.steps.size(); ++k) {
      auto const& times = evaluation.run.steps[k];
      if (times.start <= begun.start && begun.start < times.end)
        running.insert(
            static_cast<std::uint32_t>(first_flow[evaluation.origins[k].transfer] + evaluation.origins[k].option));
    }
    Configuration configuration{{running.begin(), running.end()}, {}};
    flows_.share(configuration);
    add(std::move(configuration));
  }
}

double ConfigurationProgram::value_of_all_bytes(std::vector<double> const& prices) const {
  return std::inner_product(prices.begin(), prices.end(), bytes_.begin(), 0.0);
}

double ConfigurationProgram::max_known_value(std::vector<double> const& prices) const {
  double most = 0;
  for (auto const& configuration : configurations_) most = std::max(most, flows_.value_of(configuration, prices));
  return most;
}

std::optional<ConfigurationProgram::Solution> ConfigurationProgram::generate_columns() {
  Solution found;
  found.duals = last_duals_;
  auto rounds = std::exchange(was_solved_, true) ? kScheduleLimits.max_more_rounds : kScheduleLimits.max_rounds;
  double enough = 0;
  if (symmetries_) {
    if (!generate_columns(found, kinds_, rounds, enough)) return std::nullopt;
    add_alike(found.durations);
    rounds = kScheduleLimits.max_more_rounds;
    enough = found.makespan * (1 + kScheduleLimits.max_ratio_to_kinds);
  }
  if (!generate_columns(found, transfers_, rounds, enough)) return std::nullopt;
  last_duals_ = found.duals;
  return found;
}

// Ends at a makespan of `enough` milliseconds at the latest. At any prices, the value of all bytes over the highest
// value of a configuration per millisecond is a lower bound on the makespan (Farley 1990), as far as the pricing search
// finds that configuration.
bool ConfigurationProgram::generate_columns(Solution& found, Master& master, int rounds, double enough) {
  std::vector<double> makespans;  // of the rounds
  std::vector<double> prices(bytes_.size(), 0);
  auto const perturbations = bytes_.size() <= kScheduleLimits.small_set ? kScheduleLimits.perturbations_of_small_set
                                                                        : kScheduleLimits.perturbations;
  found.durations.clear();
  for (int round = 0; round < rounds; ++round) {
    auto answer = solve(master, likely_columns(found.durations, prices), {});
    if (!answer) return false;
    found.durations = std::move(answer->x);
    found.makespan = std::accumulate(found.durations.begin(), found.durations.end(), 0.0);
    if (found.makespan <= std::max(enough, found.lower_bound * (1 + kScheduleLimits.close_enough_gap))) break;
    if (bytes_.size() > kScheduleLimits.small_set && has_stalled(makespans, found.makespan)) break;
    // The program's own duals oscillate. Smoothing them, half way to those of the best lower bound so far, converges
    // sooner (Wentges 1997).
    auto const duals = prices_of_transfers(master, answer->duals);
    prices = duals;
    for (std::size_t i = 0; i < found.duals.size(); ++i) prices[i] = (prices[i] + found.duals[i]) / 2;
    for (auto& price : prices) price = std::max(0.0, price);
    auto const before = configurations_.size();
    auto most = max_known_value(prices);
    std::vector<Configuration> others;
    auto best = pricing_.solve(prices, others, perturbations);
    most = std::max(most, flows_.value_of(best, prices));
    for (auto& other : others) add(std::move(other));
    add(std::move(best));
    if (auto const value = value_of_all_bytes(prices); value > found.lower_bound * most) {
      found.lower_bound = value / most;
      found.duals = prices;
      found.max_value = most;
    } else if (configurations_.size() == before) {
      found.duals = duals;
      found.max_value = max_known_value(found.duals);
    }
  }
  return true;
}

std::vector<double> ConfigurationProgram::prices_of_transfers(Master const& master, std::vector<double> const& duals) {
  std::vector<double> prices;
  for (auto const row : master.row) prices.push_back(duals[row]);
  return prices;
}

// Adds what symmetries make of the configurations in use, from each those first that differ least: flows that two of
// them have in common go on from one to the other.
void ConfigurationProgram::add_alike(std::vector<double> const& durations) {
  for (auto const c : in_use(durations)) {
    std::vector<std::vector<std::uint32_t>> alike{configurations_[c].flows};
    std::set<std::vector<std::uint32_t>> known{alike.front()};
    for (std::size_t at = 0; at < alike.size() && alike.size() < kScheduleLimits.max_alike; ++at)
      for (auto const& permutation : symmetries_->generators()) {
        std::vector<std::uint32_t> image;
        for (auto const flow : alike[at]) image.push_back(permutation[flow]);
        std::sort(image.begin(), image.end());
        if (known.insert(image).second) alike.push_back(std::move(image));
      }
    for (auto& flows : alike) {
      Configuration configuration{std::move(flows), {}};
      flows_.share(configuration);
      add(std::move(configuration));
    }
  }
}

std::vector<std::uint32_t> ConfigurationProgram::kinds_of_flows() const {
  if (symmetries_) return symmetries_->kinds_of_flows();
  std::vector<std::uint32_t> kinds(flows_.size());
  std::iota(kinds.begin(), kinds.end(), 0U);
  return kinds;
}

std::vector<Schedule> ConfigurationProgram::solve() {
  std::vector<Schedule> schedules;
  auto const solution = generate_columns();
  auto const last = solution ? solve(transfers_, all_columns(), {}) : std::nullopt;
  if (!last) return schedules;
  for (auto const setup_cost_weight : kScheduleLimits.setup_cost_weights) {
    auto const durations = durations_with_setup_cost(last->x, solution->makespan, setup_cost_weight);
    if (!durations) continue;
    for (auto const& order : slice_orders(*durations)) schedules.push_back(schedule(*durations, order));
  }
  return schedules;
}

Seconds ConfigurationProgram::least() {
  auto const solution = generate_columns();
  if (!solution || solution->duals.empty()) return Seconds(0);
  std::vector<PricedOption> options;
  for (std::size_t flow = 0; flow < flows_.size(); ++flow)
    options.push_back(
        {flows_.uses(flow), flows_[flow].engines, flows_[flow].rate, solution->duals[flows_[flow].transfer]});
  auto const most = max_reduced_value(options, model_, flows_.capacities(), solution->max_value);
  return most > 0 ? Seconds(value_of_all_bytes(solution->duals) / most * kMillisecond) : Seconds(0);
}

void ConfigurationProgram::add(Configuration configuration) {
  if (!configuration.flows.empty() && known_.insert(configuration.flows).second)
    configurations_.push_back(std::move(configuration));
}

std::vector<std::size_t> ConfigurationProgram::all_columns() const {
  std::vector<std::size_t> all(configurations_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Configurations that may be in use in the next solution. `durations`: of the last solution, or empty.
std::vector<std::size_t> ConfigurationProgram::likely_columns(std::vector<double> const& durations,
                                                              std::vector<double> const& prices) const {
  if (durations.empty() || configurations_.size() <= kScheduleLimits.max_columns) return all_columns();
  std::vector<std::size_t> columns;
  std::vector<std::pair<double, std::size_t>> others;
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    bool const is_default = c < bytes_.size();  // of one transfer; with these the program is always feasible
    if (is_default || (c < durations.size() && durations[c] > 0))  // the others were added since
      columns.push_back(c);
    else
      others.emplace_back(-flows_.value_of(configurations_[c], prices), c);
  }
  auto const count = std::min(others.size(), kScheduleLimits.max_columns);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count), others.end());
  for (std::size_t k = 0; k < count; ++k) columns.push_back(others[k].second);
  std::sort(columns.begin(), columns.end());
  return columns;
}

// The durations of all configurations in milliseconds, 0 for those without a column. `costs`: of a millisecond of each
// configuration; empty: 1.
std::optional<LinearSolution> ConfigurationProgram::solve(Master& master, std::vector<std::size_t> const& columns,
                                                          std::vector<double> const& costs) {
  LinearProgram program;
  for (auto const bytes : master.bytes) program.add_row({.lower = bytes});
  for (auto const c : columns) {
    auto const& [flows, rates] = configurations_[c];
    std::map<std::uint32_t, double> moved;
    for (std::size_t k = 0; k < flows.size(); ++k) moved[master.row[flows_[flows[k]].transfer]] += rates[k];
    for (auto const& [row, rate] : moved) program.entries.push_back({static_cast<int>(row), rate});
    program.end_column(costs.empty() ? 1 : costs[c]);
  }
  auto& basis = master.basis;
  basis.columns.resize(configurations_.size(), BasisStatus::AtLower);
  Basis from{{}, basis.rows};
  for (auto const c : columns) from.columns.push_back(basis.columns[c]);
  auto answer = lanewise::solve(program, from);
  if (!answer) return answer;
  basis = {std::vector<BasisStatus>(configurations_.size(), BasisStatus::AtLower), answer->basis.rows};
  for (std::size_t k = 0; k < columns.size(); ++k) basis.columns[columns[k]] = answer->basis.columns[k];
  std::vector<double> durations(configurations_.size(), 0);
  for (std::size_t k = 0; k < columns.size(); ++k) durations[columns[k]] = answer->x[k];
  answer->x = std::move(durations);
  return answer;
}

// The durations where each configuration in use also costs `setup_cost_weight` times the mean start-up time of its
// flows, so that few are in use. The program is linear, so the cost is spread over the duration of the last round.
// `durations`: to begin with.
std::optional<std::vector<double>> ConfigurationProgram::durations_with_setup_cost(std::vector<double> durations,
                                                                                   double makespan,
                                                                                   double setup_cost_weight) {
  for (int round = 0; round < kScheduleLimits.setup_cost_rounds; ++round) {
    std::vector<double> costs;
    for (std::size_t c = 0; c < configurations_.size(); ++c) {
      double latency = 0;
      for (auto const flow : configurations_[c].flows) latency += flows_[flow].latency;
      latency /= static_cast<double>(configurations_[c].flows.size());
      costs.push_back(1 + setup_cost_weight * latency /
                              std::max(durations[c], kScheduleLimits.min_duration_for_setup * makespan));
    }
    auto answer = solve(transfers_, all_columns(), costs);
    if (!answer) return std::nullopt;
    durations = std::move(answer->x);
  }
  return durations;
}

// Start-up time, in milliseconds, of the flows that continue from one configuration to the other.
double ConfigurationProgram::setup_saved(std::size_t one, std::size_t other) const {
  auto const& a = configurations_[one].flows;
  auto const& b = configurations_[other].flows;
  std::vector<std::uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  double saved = 0;
  for (auto const flow : both) saved += flows_[flow].latency;
  return saved;
}

std::vector<std::size_t> ConfigurationProgram::in_use(std::vector<double> const& durations) const {
  constexpr double kMinDuration = 1e-6;  // milliseconds
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < durations.size(); ++c)
    if (durations[c] > kMinDuration) used.push_back(c);
  return used;
}

// Orders of the configurations in use that save set-up time, from several starts on, and their reverses.
std::set<std::vector<std::size_t>> ConfigurationProgram::slice_orders(std::vector<double> const& durations) const {
  auto const used = in_use(durations);
  auto const count = used.size();
  std::vector<std::vector<double>> saved(count, std::vector<double>(count, 0));
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) saved[a][b] = setup_saved(used[a], used[b]);
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t n = 0; n < kScheduleLimits.start_orders; ++n) {
    std::vector<std::size_t> order;
    for (auto const at : path_of_savings(saved, n * count / kScheduleLimits.start_orders)) order.push_back(used[at]);
    orders.emplace(order.rbegin(), order.rend());
    orders.insert(std::move(order));
  }
  return orders;
}

Schedule ConfigurationProgram::schedule(std::vector<double> const& durations,
                                        std::vector<std::size_t> const& order) const {
  Schedule schedule;
  auto left = bytes_;
  for (auto const c : order) {
    auto& slice = schedule.slices.emplace_back(Schedule::Slice{Seconds(durations[c] * kMillisecond), {}});
    for (std::size_t k = 0; k < configurations_[c].flows.size(); ++k) {
      auto const& flow = flows_[configurations_[c].flows[k]];
      auto const bytes = std::min(configurations_[c].rates[k] * durations[c], left[flow.transfer]);
      if (bytes <= 0) continue;
      left[flow.transfer] -= bytes;
      slice.moving.push_back({flow.transfer, flow.option, bytes * kMegabyte});
    }
  }
  return schedule;
}

}  // namespace lanewise
