#pragma once
// In which order pieces that are ready together should ask for engines and links: round after round, each of pieces
// that do not get in one another's way, those that pass the fullest first.
#include <span>
#include <vector>

#include "core/model/model.hpp"

namespace lanewise {

// Steps hardly share while together they ask for no more than this of a capacity: weights are rounded to a twentieth,
// and a link's two directions together carry less than twice one.
inline constexpr double kUncontendedUtilisation = 1.1;

struct ReadyPiece {
  Demand const* demand = nullptr;
  BytesPerSecond rate;  // alone
  double bytes = 0;
  std::size_t turn = 0;  // who goes first among equals
};

// Positions of the pieces in the order to start them.
std::vector<std::size_t> start_order(std::span<ReadyPiece const> pieces, Model const& model);

}  // namespace lanewise
