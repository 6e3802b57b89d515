#pragma once
// Sizes of a schedule's segments with which all end earliest.
#include <optional>
#include <vector>

#include "core/planner/schedules/segments.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {

// The segments of a run with other bytes each, so that all would end earliest in the same order and at the rates that
// they had: a linear program. A segment grows or shrinks by at most the fraction `max_change`. Nullopt without a
// solver. `basis`: of the last such program, to start from (may be empty); set to that of this one.
std::optional<std::vector<Segment>> resize(std::vector<Segment> const& segments, Evaluation const& evaluation,
                                           TransferSet const& set, Model const& model, double max_change, Basis& basis);

}  // namespace lanewise
