#pragma once
#include <span>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise {

// A way that a transfer may take, priced.
struct PricedOption {
  std::span<Sharing::Use const> uses;
  InlineVector<EngineId, 4> engines;  // held while it moves data
  double rate = 0;                    // at most: that of the way alone, for all its pieces together
  double price = 0;                   // the dual value of a unit that it moves
};

// An upper bound on what any configuration is worth per unit of time: a set of options that have enough engines, at any
// rates within `capacities` (of all the model's resources). The exact pricing problem of the configuration program,
// which turns prices into a bound on schedules. Branch and bound (Land and Doig 1960) over linear programs; after a
// limited number of them the bound may be above the maximum. `known`: the worth of a configuration known already; the
// result is never below it. Infinity without a solver.
double max_reduced_value(std::span<PricedOption const> options, Model const& model,
                         std::vector<double> const& capacities, double known);

}  // namespace lanewise
