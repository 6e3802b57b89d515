#include "core/planner/bounds/transfer_program.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/planner/bound_limits.hpp"
#include "core/solver/congestion.hpp"

namespace lanewise {

std::vector<double> TransferProgram::weights() {
  auto const optimal = optimum();  // may add constraints
  auto best = constraints_.best_closed_form();
  needs_turns_ = optimal && exceeds_engines(*optimal);
  if (optimal && bound_of(optimal->weights) > bound_of(best)) best = optimal->weights;
  return best;
}

std::optional<Division> TransferProgram::division(Seconds wanted) {
  auto const optimal = optimum();
  if (!optimal) return std::nullopt;
  auto const& transfers = constraints_.transfers();
  auto const& columns = constraints_.columns();
  Division division{{}, {}, Seconds(bound_of(optimal->weights) * kMillisecond)};
  for (auto const& transfer : transfers) division.bytes.emplace_back(transfer.options.size(), 0.0);
  for (std::size_t c = 0; c < columns.size(); ++c)
    division.bytes[columns[c].transfer][columns[c].option] = optimal->bytes[c];
  if (each_has_one_way() || division.makespan > wanted) return division;
  if (auto const bytes = least_congested_bytes(optimal->makespan)) {
    division.least_congested = division.bytes;
    for (std::size_t c = 0; c < columns.size(); ++c)
      division.least_congested[columns[c].transfer][columns[c].option] = (*bytes)[c];
  }
  return division;
}

// Solves the program, and again with the constraints on shared engines that its solutions violate.
std::optional<TransferSolution> TransferProgram::optimum() {
  auto const ways = constraints_.columns().size();
  if (ways > kBoundLimits.max_columns) return std::nullopt;
  auto found = solve_for_time();
  for (int round = 0; found && round < kBoundLimits.max_engine_rounds && ways <= kBoundLimits.engine_rounds_max_columns;
       ++round) {
    if (!add_violated_engine_constraints(constraints_, *found)) break;
    auto tighter = solve_for_time();
    if (!tighter) break;
    found = std::move(tighter);
  }
  if (found) found->weights.resize(constraints_.all().size(), 0);  // constraints added after the last solution
  return found;
}

bool TransferProgram::exceeds_engines(TransferSolution const& solution) const {
  std::map<EngineId, int> held;
  auto const& columns = constraints_.columns();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (solution.bytes[c] > 0)
      for (auto const engine : constraints_.option_of(columns[c]).demand.engines) ++held[engine];
  return std::any_of(held.begin(), held.end(), [&](auto const& entry) {
    return entry.second > constraints_.model().resources().at(entry.first).slots;
  });
}

bool TransferProgram::each_has_one_way() const {
  auto const& transfers = constraints_.transfers();
  return !transfers.empty() && std::all_of(transfers.begin(), transfers.end(),
                                           [](OpenTransfer const& one) { return one.options.size() == 1; });
}

// Minimises T, the first column, such that all bytes move and no constraint is violated.
std::optional<TransferSolution> TransferProgram::solve_for_time() const {
  if (each_has_one_way()) return solve_single_ways();
  MergedTransfers const merged(constraints_);
  auto program = demand_rows(merged);
  auto const rows = add_constraint_rows(program, merged, 0);
  for (std::size_t r = 0; r < rows.size(); ++r)
    program.entries.push_back({rows.first + static_cast<int>(r), -rows.capacities[r]});
  program.end_column(1);
  add_way_columns(program, merged, rows, 0);
  auto const solution = solve(program);
  if (!solution) return std::nullopt;
  std::vector<double> weights(constraints_.all().size(), 0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (rows.of[i] >= 0) weights[i] = std::max(0.0, -solution->duals[static_cast<std::size_t>(rows.of[i])]);
  std::vector<double> const megabytes(solution->x.begin() + 1, solution->x.end());
  return TransferSolution{std::move(weights), merged.bytes_of(megabytes), solution->x[0]};
}

// If no transfer has a choice, the constraint that takes longest is the solution.
TransferSolution TransferProgram::solve_single_ways() const {
  auto const& all = constraints_.all();
  auto const& columns = constraints_.columns();
  TransferSolution found;
  found.bytes.resize(columns.size());
  std::vector<double> used(all.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    found.bytes[c] = static_cast<double>(constraints_.transfers()[columns[c].transfer].bytes.value());
    for (auto const& [at, coefficient] : columns[c].coefficients) used[at] += coefficient * found.bytes[c] / kMegabyte;
  }
  std::size_t bottleneck = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind == Constraint::Kind::Way && !constraints_.is_capped(all[i])) continue;
    auto const time = all[i].idle_time() + used[i] / all[i].capacity;
    if (time <= found.makespan) continue;
    found.makespan = time;
    bottleneck = i;
  }
  found.weights.resize(all.size(), 0);
  found.weights[bottleneck] = 1 / all[bottleneck].capacity;
  return found;
}

// Bytes of the columns with the least congestion, in hardly more time than this.
std::optional<std::vector<double>> TransferProgram::least_congested_bytes(double makespan) const {
  MergedTransfers const merged(constraints_);
  auto program = demand_rows(merged);
  auto const rows = add_constraint_rows(program, merged, kUncongestedUtilisation * makespan);
  for (std::size_t r = 0; r < rows.size(); ++r)
    add_congestion_cost(program, rows.first + static_cast<int>(r), rows.capacities[r], makespan);
  auto const first = program.cost.size();
  add_way_columns(program, merged, rows, kBoundLimits.setup_cost_weight);
  auto const solution = solve(program);
  if (!solution) return std::nullopt;
  return merged.bytes_of({solution->x.begin() + static_cast<std::ptrdiff_t>(first), solution->x.end()});
}

// A row for each group of transfers: all its bytes move.
LinearProgram TransferProgram::demand_rows(MergedTransfers const& merged) {
  LinearProgram program;
  for (auto const megabytes : merged.megabytes()) program.add_row({megabytes, megabytes});
  return program;
}

// Adds the constraints that matter as rows, for a time known so far.
TransferProgram::ConstraintRows TransferProgram::add_constraint_rows(LinearProgram& program,
                                                                     MergedTransfers const& merged, double time) const {
  auto const& all = constraints_.all();
  ConstraintRows rows{static_cast<int>(program.rows.size()), std::vector<int>(all.size(), -1), {}};
  auto const add = [&](double capacity, double idle_time) {
    rows.capacities.push_back(capacity);
    return program.add_row({.upper = capacity * (time - idle_time)});
  };
  std::vector<MergedTransfers::Column const*> column_of(all.size(), nullptr);  // of the first member's own rate
  for (auto const& column : merged.columns()) column_of[constraints_.own_constraint(column.members.front())] = &column;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != Constraint::Kind::Way) {
      rows.of[i] = add(all[i].capacity, all[i].idle_time());
    } else if (column_of[i] != nullptr && constraints_.is_capped(all[i])) {
      double capacity = 0;
      auto idle_time = std::numeric_limits<double>::infinity();
      for (auto const c : column_of[i]->members) {
        capacity += all[constraints_.own_constraint(c)].capacity;
        idle_time = std::min(idle_time, all[constraints_.own_constraint(c)].idle_time());
      }
      auto const row = add(capacity, idle_time);
      for (auto const c : column_of[i]->members) rows.of[constraints_.own_constraint(c)] = row;
    }
  }
  return rows;
}

void TransferProgram::add_way_columns(LinearProgram& program, MergedTransfers const& merged, ConstraintRows const& rows,
                                      double setup_cost_weight) const {
  for (auto const& column : merged.columns()) {
    program.entries.push_back({static_cast<int>(column.group), 1});
    double cost = 0;
    for (auto const& [at, coefficient] : column.coefficients) {
      program.entries.push_back({rows.of[at], coefficient});
      cost += setup_cost_weight * coefficient / constraints_.all()[at].capacity;
    }
    if (auto const own = rows.of[constraints_.own_constraint(column.members.front())]; own >= 0) {
      program.entries.push_back({own, 1});
      cost += setup_cost_weight / rows.capacities[static_cast<std::size_t>(own - rows.first)];
    }
    program.end_column(cost);
  }
}

std::optional<Division> best_division(std::vector<OpenTransfer> const& transfers, Model const& model, Seconds wanted) {
  std::vector<double> const none(transfers.size(), 0);
  return TransferProgram(transfers, model, none, none).division(wanted);
}

}  // namespace lanewise
