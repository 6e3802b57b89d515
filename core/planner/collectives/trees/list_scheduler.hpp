#pragma once
// Pieces of packed trees on their legs, and who goes when.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/planner/collectives/trees/tree_packing.hpp"

namespace lanewise {

// A piece on one leg of its tree, or several that lie behind one another.
struct ScheduledHop {
  std::uint32_t cell = 0;
  std::uint32_t cells = 1;
  std::uint32_t leg = 0;
  double bytes = 0;
  double paced = 0;                    // when it would go if nobody waited: in pieces
  std::optional<std::size_t> brought;  // by this hop of those that list_schedule() gets
  double ahead = 0;                    // hops that the piece has to go after this one
  Seconds start{0};
};

// In the order in which they start where each leg carries one piece at a time and is never idle while a piece is there
// for it and its engines are free: the one whose turn it is, but rather one that has far to go. Pieces that go on
// nowhere go as one with those behind them that are there as well.
//
// Flows share what they have in common: in an order made from how fast legs are alone, legs wait for pieces that are
// not there yet, and all takes up to half as long again on PCIe (with the turns alone, 10 to 20 % longer on a mesh of
// NVLink).
std::vector<ScheduledHop> list_schedule(Packing const& packing, std::vector<ScheduledHop> hops);

}  // namespace lanewise
