#pragma once
// Pieces of a schedule in the sizes with which all end earliest.
#include <optional>
#include <vector>

#include "core/planner/schedules/segments.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {

// The stays of a run with other bytes each, by a part `other` of them at most, so that all would end earliest in the
// same turns and at the rates that they had: a linear program. None where there is no solver. `basis`: of the last such
// program, if any, and then of this one.
std::optional<std::vector<Segment>> resize(std::vector<Segment> const& segments, Evaluation const& evaluation,
                                           TransferSet const& set, Model const& model, double other, Basis& basis);

}  // namespace lanewise
