#pragma once
// How much what moves side by side can be worth at most, for given prices: what turns prices into a bound on
// schedules.
#include <span>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "core/model/model.hpp"

namespace lanewise {

// A way of a transfer.
struct PricedOption {
  std::span<Sharing::Use const> uses;
  InlineVector<EngineId, 4> engines;  // held as long as it moves
  double rate = 0;                    // at most, as that of a way alone is taken to be for all its pieces together
  double price = 0;                   // of a unit that it moves
};

// No lanes whose engines suffice, at whatever rates within the capacities (of all the model's resources), are worth
// more than this in a unit of time. Branch and bound over linear programs, given up after some hundred: then it can be
// more than the most there is. `known`: lanes that are worth so much are known. Infinity where there is no solver.
double max_reduced_value(std::span<PricedOption const> lanes, Model const& model, std::vector<double> const& capacities,
                         double known);

}  // namespace lanewise
