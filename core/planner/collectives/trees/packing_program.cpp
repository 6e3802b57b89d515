#include "core/planner/collectives/trees/packing_program.hpp"

#include <algorithm>
#include <bit>

#include "core/planner/collective_limits.hpp"
#include "core/solver/congestion.hpp"

namespace lanewise {
namespace {

// The fraction of a collective's bytes that each root sends.
double part_of_root(Collective const& collective, Sites const& sites) {
  return collective.op == CollectiveOp::Broadcast ? 1 : 1 / static_cast<double>(sites.participants);
}

}  // namespace

bool can_be_packed(Collective const& collective, Sites const& sites) {
  bool const gathers = collective.op == CollectiveOp::AllGather;
  if ((!gathers && collective.op != CollectiveOp::Broadcast) || collective.bytes == Bytes(0) || !linear_solver() ||
      sites.participants > kCollectiveLimits.packing_max_participants)
    return false;
  auto const others = sites.places.size() - sites.participants;
  auto const roots = gathers ? sites.participants : 1;
  constexpr auto kMax = kCollectiveLimits.packing_max_arborescences;
  return others < std::bit_width(kMax) && (roots << others) <= kMax;
}

PackingProgram::PackingProgram(Collective const& collective, Sites const& sites, Model const& model,
                               PackingStyle const* style)
    : sites_(sites),
      style_(style),
      bytes_(static_cast<double>(collective.bytes.value())),
      legs_(sites, model, style, bytes_, part_of_root(collective, sites)) {
  auto const part = part_of_root(collective, sites);
  if (collective.op == CollectiveOp::Broadcast)
    roots_.push_back({collective.root, part});
  else
    for (std::size_t i = 0; i < sites.participants; ++i) roots_.push_back({i, part});
  auto const& capacities = legs_.capacities();
  idle_.resize(capacities.size(), style == nullptr ? legs_.min_start() : 0);
  prices_.resize(capacities.size());
  for (std::size_t i = 0; i < prices_.size(); ++i) prices_[i] = 1 / capacities[i];
}

bool PackingProgram::minimise_time(Seconds time_limit) {
  double makespan = kForever;
  for (int round = 0; round < kCollectiveLimits.packing_max_pricing_rounds; ++round) {
    auto const least_cost = add_cheapest_trees();
    if (!least_cost) return false;
    update_bound(*least_cost);
    if (bound_ * (1 + kCollectiveLimits.packing_tolerance) >= makespan) break;
    auto const solution = solve(least_time_program());
    if (!solution) return false;
    makespan = solution->x[0];
    adopt(*solution, 1);
  }
  makespan_ = makespan;
  return legs_.seconds(makespan) < time_limit;
}

void PackingProgram::count_start_times() {
  auto const& legs = legs_.legs();
  std::vector<double> first_in(sites_.places.size(), kForever);
  std::vector<double> first_out(sites_.places.size(), kForever);
  for (std::size_t l = 0; l < legs.size(); ++l) {
    first_in[legs[l].to] = std::min(first_in[legs[l].to], legs_.handover(l));
    first_out[legs[l].from] = std::min(first_out[legs[l].from], legs_.handover(l));
  }
  for (std::size_t row = 0; row < idle_.size(); ++row) {
    auto before = kForever;
    auto behind = kForever;
    std::vector<std::size_t> until_the_end;  // legs that may flow to the very end
    for (std::size_t l = 0; l < legs.size(); ++l) {
      if (legs_.weight(l, row) == 0) continue;
      auto const& leg = legs[l];
      before = std::min(before, legs_.handover(l) + (legs_.is_memory(leg.from) ? first_in[leg.from] : 0));
      if (legs_.is_memory(leg.to))
        behind = std::min(behind, first_out[leg.to]);
      else
        until_the_end.push_back(l);
    }
    auto idle = before;
    if (before + behind <= bound_) idle += behind * (1 - max_use(until_the_end, row));
    // A row that would be idle for longer than the whole bound may not be used at all.
    if (before <= bound_) idle_[row] = std::max(idle_[row], std::min(idle, legs_.min_start_off_legs()));
  }
}

// New trees are priced as if hops cost nothing; shallow ones are in the program already.
void PackingProgram::relieve_congestion(double setup_cost_weight) {
  for (int round = 0; round < kCollectiveLimits.packing_max_congestion_rounds; ++round) {
    auto const solution = solve(least_congestion_program(setup_cost_weight));
    if (!solution) return;
    adopt(*solution, solution->x.size() - trees_.size());
    for (std::size_t i = 0; i < prices_.size(); ++i) prices_[i] += setup_cost_weight / legs_.capacities()[i];
    auto const known = trees_.size();
    if (!add_cheapest_trees() || trees_.size() == known) return;
  }
}

std::optional<Packing> PackingProgram::packing() && {
  auto packing = std::move(legs_).release();
  for (auto& tree : trees_) {
    tree.bytes *= bytes_;
    if (tree.bytes > 0) packing.trees.push_back(std::move(tree));
  }
  for (auto const& root : roots_)
    if (std::none_of(packing.trees.begin(), packing.trees.end(),
                     [&](PackedTree const& tree) { return tree.root == root.participant; }))
      return std::nullopt;
  return packing;
}

std::vector<std::pair<std::string, double>> PackingProgram::binding(double min_share) const {
  std::vector<std::pair<std::string, double>> binding;
  for (std::size_t i = 0; i < shares_.size(); ++i)
    if (shares_[i] > min_share) binding.emplace_back(legs_.name(i), shares_[i]);
  return binding;
}

// The largest fraction of a row that these legs can use together: every other row that all of them need limits them.
double PackingProgram::max_use(std::vector<std::size_t> const& legs, std::size_t row) const {
  if (legs.empty()) return 0;
  auto const& capacities = legs_.capacities();
  double most = 1;
  for (std::size_t other = 0; other < capacities.size(); ++other) {
    double used = 0;
    for (auto const leg : legs) {
      auto const weight = legs_.weight(leg, other);
      if (weight > 0)
        used = std::max(used, legs_.weight(leg, row) / weight);
      else
        used = kForever;
    }
    most = std::min(most, used * capacities[other] / capacities[row]);
  }
  return most;
}

// Adds the cheapest tree of each root at the current prices. Returns what all bytes would cost over these trees;
// nullopt if a root cannot reach everyone.
std::optional<double> PackingProgram::add_cheapest_trees() {
  auto const count = sites_.places.size();
  EdgeCosts costs(count, std::vector<double>(count, kNoEdge));
  std::vector<std::vector<std::uint32_t>> cheapest_leg(count, std::vector<std::uint32_t>(count, 0));
  for (std::uint32_t l = 0; l < legs_.legs().size(); ++l) {
    double cost = 0;
    for (auto const& [row, weight] : legs_.coefficients(l)) cost += prices_[row] * weight;
    auto const& leg = legs_.legs()[l];
    if (cost >= costs[leg.from][leg.to]) continue;
    costs[leg.from][leg.to] = cost;
    cheapest_leg[leg.from][leg.to] = l;
  }
  double least = 0;
  for (auto const& root : roots_) {
    auto const tree = cheapest_steiner_tree(costs, root.participant, sites_.participants);
    if (!tree) return std::nullopt;
    least += root.bytes * tree->cost;
    add_tree(root.participant, tree->edges, cheapest_leg);
    // A plan prefers trees of few hops, along which pieces arrive everywhere soon. Also add a tree for which each hop
    // costs as much again as an average edge.
    if (style_ == nullptr) continue;
    auto const hop_cost = tree->cost / static_cast<double>(tree->edges.size());
    if (auto const shallow = shortest_paths(costs, root.participant, hop_cost, sites_.participants))
      add_tree(root.participant, *shallow, cheapest_leg);
  }
  return least;
}

void PackingProgram::add_tree(std::size_t root, Edges const& edges,
                              std::vector<std::vector<std::uint32_t>> const& cheapest_leg) {
  PackedTree added{root, 0, {}};
  for (auto const& [from, to] : edges) added.legs.push_back(cheapest_leg[from][to]);
  bool const known = std::any_of(trees_.begin(), trees_.end(), [&](PackedTree const& other) {
    return other.root == added.root && other.legs == added.legs;
  });
  if (!known) trees_.push_back(std::move(added));
}

// Hops from the root, averaged over the sites that the tree reaches.
double PackingProgram::mean_depth(PackedTree const& tree) const {
  std::vector<double> depth(sites_.places.size(), 0);
  double sum = 0;
  for (auto const l : tree.legs) {
    auto const& leg = legs_.legs()[l];
    sum += depth[leg.to] = depth[leg.from] + 1;
  }
  return sum / std::max(1.0, static_cast<double>(tree.legs.size()));
}

// At any prices no packing costs less than the cheapest trees (weak duality), so the solver's rounding cannot make the
// bound too high. Idle time of a row costs as much as using it.
void PackingProgram::update_bound(double cost) {
  auto const& capacities = legs_.capacities();
  double worth = 0;
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    worth += prices_[i] * capacities[i];
    cost += prices_[i] * capacities[i] * idle_[i];
  }
  if (worth <= 0 || cost / worth <= bound_) return;
  bound_ = cost / worth;
  shares_.resize(prices_.size());
  for (std::size_t i = 0; i < prices_.size(); ++i) shares_[i] = prices_[i] * capacities[i] / worth;
}

// A row for each root: all its bytes are carried.
LinearProgram PackingProgram::demand_rows() const {
  LinearProgram program;
  for (auto const& root : roots_) program.add_row({.lower = root.bytes});
  return program;
}

// Columns of the trees; the rows of the leg table follow those of the roots.
void PackingProgram::add_tree_columns(LinearProgram& program, double setup_cost_weight) const {
  auto const& capacities = legs_.capacities();
  std::vector<double> used(capacities.size());
  for (auto const& tree : trees_) {
    auto const root =
        std::find_if(roots_.begin(), roots_.end(), [&](Root const& r) { return r.participant == tree.root; });
    program.entries.push_back({static_cast<int>(root - roots_.begin()), 1});
    std::fill(used.begin(), used.end(), 0);
    for (auto const leg : tree.legs)
      for (auto const& [row, weight] : legs_.coefficients(leg)) used[row] += weight;
    double cost = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i] > 0) program.entries.push_back({lp_row(i), used[i]});
      cost += setup_cost_weight * used[i] / capacities[i];
    }
    program.end_column(cost * (1 + kCollectiveLimits.packing_depth_weight * mean_depth(tree)));
  }
}

// Minimises T, the first column, such that the trees carry everything.
LinearProgram PackingProgram::least_time_program() const {
  auto const& capacities = legs_.capacities();
  auto program = demand_rows();
  for (std::size_t i = 0; i < capacities.size(); ++i) program.add_row({.upper = -capacities[i] * idle_[i]});
  for (std::size_t i = 0; i < capacities.size(); ++i) program.entries.push_back({lp_row(i), -capacities[i]});
  program.end_column(1);
  add_tree_columns(program, 0);
  return program;
}

// Minimises congestion at the makespan found before.
LinearProgram PackingProgram::least_congestion_program(double setup_cost_weight) const {
  auto const& capacities = legs_.capacities();
  auto program = demand_rows();
  for (auto const capacity : capacities) program.add_row({.upper = kUncongestedUtilisation * makespan_ * capacity});
  for (std::size_t i = 0; i < capacities.size(); ++i) add_congestion_cost(program, lp_row(i), capacities[i], makespan_);
  add_tree_columns(program, setup_cost_weight);
  return program;
}

void PackingProgram::adopt(LinearSolution const& solution, std::size_t first_tree_column) {
  for (std::size_t t = 0; t < trees_.size(); ++t) trees_[t].bytes = solution.x[first_tree_column + t];
  for (std::size_t i = 0; i < prices_.size(); ++i)
    prices_[i] = std::max(0.0, -solution.duals[static_cast<std::size_t>(lp_row(i))]);
}

}  // namespace lanewise
