#pragma once
// A plan of a set made from a timetable: pieces that move when the timetable has them move, in turns that keep to it.
#include <optional>

#include "core/planner/draft.hpp"

namespace lanewise {

// The best found for transfers that may all begin at once; every transfer may go in pieces. `known`: what the best plan
// so far takes. nullopt where there is no solver. Milliseconds for some transfers, some hundred for 56.
std::optional<Trial> tried_on_time(TransferSet const& set, Model const& model, Seconds known);

}  // namespace lanewise
