#pragma once
// Sizes of a schedule's segments with which all end earliest.
#include <vector>

#include "core/planner/schedules/segments.hpp"

namespace lanewise {

// The segments of a run with other bytes each, so that all would end earlier in the same order and at the rates that
// they had. A segment grows or shrinks by at most the fraction `max_change`. The sizes of a transfer's segments keep
// their sum, but for rounding: the last one gets what is left over.
//
// That is a linear program. Its optimum is only approached, by gradient descent on the length of the longest paths:
// a test holds it to nine tenths of what that gains. The simplex method takes many times as long.
std::vector<Segment> resize(std::vector<Segment> const& segments, Evaluation const& evaluation, TransferSet const& set,
                            Model const& model, double max_change);

}  // namespace lanewise
