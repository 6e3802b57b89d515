#pragma once
// Finds a plan of a set of transfers that is better than the best way of each by itself.
#include <limits>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

// `base`: the plan in which every transfer goes its best way by itself, with at least one transfer and all costs known.
// Returns it unchanged where no plan is clearly better.
//
// Cheap drafts are tried first; with Effort::Full, costly ones too while the best plan is clearly above the lower
// bound. Where no plan can be expected to take at most `wanted` seconds, the search ends early. A set of 56 transfers
// takes about a millisecond on NVSwitch, 30 ms on PCIe switches, and a quarter of a second on a mesh of NVLink.
Plan find_best_plan(Plan const& base, Model const& model, Aim aim,
                    double wanted = std::numeric_limits<double>::infinity());

}  // namespace lanewise
