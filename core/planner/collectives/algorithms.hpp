#pragma once
// The algorithms of collectives: from the participants' number and layout to moves. Pure functions; check.hpp proves
// what they make.
#include <optional>
#include <vector>

#include "core/plan/collective.hpp"
#include "core/planner/collectives/moves.hpp"

namespace lanewise {

// What an algorithm needs to know of where the participants are.
struct Layout {
  std::vector<std::vector<std::size_t>> rings;   // orders of all participants, over links that no other ring uses
  std::vector<std::vector<std::size_t>> groups;  // those of one node, by node
  std::size_t chunks = 1;                        // pieces of what goes down chains and trees one after another
};

// Nullopt where the algorithm does not do this: reductions among uneven groups, a number that is no power of two.
std::optional<Moves> moves_of(Collective const& collective, Algorithm algorithm, Layout const& layout);

// The other direct all_reduce: everyone adds up all that the others have, beside its own data. Moves n/2 times as much
// as in two steps, but nobody waits for anybody. Nullopt for other collectives.
std::optional<Moves> in_one_step(Collective const& collective);

}  // namespace lanewise
