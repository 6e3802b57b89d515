#include "core/planner/bounds/engine_constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/planner/bound_limits.hpp"
#include "core/planner/bounds/transfer_units.hpp"

namespace lanewise {
namespace {

void sort_unique(std::vector<std::size_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

class EngineCuts {
 public:
  EngineCuts(TransferConstraints& constraints, TransferSolution const& solution)
      : constraints_(constraints), solution_(solution), users_(constraints.all().size()) {}

  bool add_all() {
    bool any = false;
    auto const count = users_.size();
    TransferConstraints::ColumnLists active(count);  // those of the users that carry bytes
    auto const& columns = constraints_.columns();
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (auto const& [at, coefficient] : columns[c].coefficients) {
        users_[at].push_back(c);
        if (solution_.bytes[c] > 0) active[at].push_back(c);
      }
    for (std::size_t r = 0; r < count; ++r) {
      if (constraints_.all()[r].kind != Constraint::Kind::Resource || active[r].size() < 2) continue;
      auto const moved = megabytes_through(r, active[r]);
      // One flow always finds room at its full rate, so up to half of the capacity nothing is held for longer.
      if (moved <= constraints_.all()[r].capacity * solution_.makespan / 2) continue;
      auto const engines = engines_of(active[r]);
      if (engines.size() > 1) any = add_if_violated(r, engines, moved) || any;
      for (auto const engine : engines) any = add_if_violated(r, {engine}, moved) || any;
    }
    return any;
  }

 private:
  using Column = TransferConstraints::Column;

  [[nodiscard]] double megabytes_through(std::size_t resource, std::vector<std::size_t> const& columns) const {
    double moved = 0;
    for (auto const c : columns)
      for (auto const& [at, coefficient] : constraints_.columns()[c].coefficients)
        if (at == resource) moved += coefficient * solution_.bytes[c] / kMegabyte;
    return moved;
  }
  // The constraints of engines that one of the columns holds.
  [[nodiscard]] std::vector<std::size_t> engines_of(std::vector<std::size_t> const& columns) const {
    std::vector<std::size_t> engines;
    for (auto const c : columns)
      for (auto const& [at, coefficient] : constraints_.columns()[c].coefficients)
        if (constraints_.all()[at].kind == Constraint::Kind::Engine) engines.push_back(at);
    sort_unique(engines);
    return engines;
  }
  // u: the rate of the fastest flow that passes the resource and holds one of the engines.
  [[nodiscard]] double fastest_flow(std::size_t resource, std::vector<std::size_t> const& engines) const {
    double fastest = 0;
    for (auto const c : users_[resource]) {
      auto const& column = constraints_.columns()[c];
      double weight = 0;
      bool holds = false;
      for (auto const& [at, coefficient] : column.coefficients) {
        if (at == resource) weight = coefficient;
        holds = holds || std::binary_search(engines.begin(), engines.end(), at);
      }
      if (holds) fastest = std::max(fastest, weight * rate_of(column));
    }
    return fastest;
  }
  [[nodiscard]] double rate_of(Column const& column) const { return program_rate(constraints_.option_of(column).rate); }

  bool add_if_violated(std::size_t resource, std::vector<std::size_t> const& engines, double moved) {
    auto const capacity = constraints_.all()[resource].capacity;
    auto const fastest = fastest_flow(resource, engines);
    auto const whole = std::floor(capacity / fastest * (1 + 1e-9));
    auto const rest = capacity - whole * fastest;
    if (!(fastest > 0) || rest < kBoundLimits.min_engine_remainder * capacity ||
        moved <= whole * fastest * solution_.makespan)
      return false;
    constexpr auto kInfinity = std::numeric_limits<double>::infinity();
    Constraint cut{Constraint::Kind::SharedEngines, resource, whole * fastest / rest - whole, kInfinity, kInfinity};
    for (auto const engine : engines) {
      auto const& of_engine = constraints_.all()[engine];
      cut.capacity += of_engine.capacity;
      cut.head = std::min(cut.head, of_engine.head);
      cut.tail = std::min(cut.tail, of_engine.tail);
    }
    std::vector<std::size_t> holders;  // columns that hold one of the engines
    for (auto const engine : engines) holders.insert(holders.end(), users_[engine].begin(), users_[engine].end());
    sort_unique(holders);
    std::vector<std::pair<std::size_t, double>> coefficients;
    double used = 0;
    for (auto const c : holders) {
      auto const coefficient = coefficient_in_cut(constraints_.columns()[c], resource, engines, rest);
      coefficients.emplace_back(c, coefficient);
      used += coefficient * solution_.bytes[c] / kMegabyte;
    }
    if (used <= cut.capacity * (solution_.makespan - cut.idle_time()) * (1 + kBoundLimits.min_violation)) return false;
    constraints_.add(cut, coefficients);
    return true;
  }
  // How long a megabyte of a column holds the engines.
  [[nodiscard]] double coefficient_in_cut(Column const& column, std::size_t resource,
                                          std::vector<std::size_t> const& engines, double rest) const {
    double held = 0;
    double weight = 0;
    for (auto const& [at, coefficient] : column.coefficients) {
      if (at == resource) weight = coefficient;
      if (std::binary_search(engines.begin(), engines.end(), at)) held += coefficient;
    }
    if (weight > 0) held += weight / rest - 1 / rate_of(column);
    return held;
  }

  TransferConstraints& constraints_;
  TransferSolution const& solution_;
  TransferConstraints::ColumnLists users_;  // of each constraint known at first
};

}  // namespace

bool add_violated_engine_constraints(TransferConstraints& constraints, TransferSolution const& solution) {
  return EngineCuts(constraints, solution).add_all();
}

}  // namespace lanewise
