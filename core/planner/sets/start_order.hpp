#pragma once
// The order in which pieces that are ready together ask for engines and links: in rounds of pieces that do not contend,
// those on the busiest resources first. Greedy first fit, as in list scheduling by priority (Graham 1969).
#include <span>
#include <vector>

#include "lanewise/model/model.hpp"

namespace lanewise {

struct ReadyPiece {
  Demand const* demand = nullptr;
  BytesPerSecond rate;  // alone
  double bytes = 0;
  std::size_t tie_break = 0;  // the smaller one goes first among equals
};

// Positions of the pieces in the order to start them.
std::vector<std::size_t> start_order(std::span<ReadyPiece const> pieces, Model const& model);

}  // namespace lanewise
