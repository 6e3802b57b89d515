#pragma once
// The demands of a plan's steps as they are run: moves, reductions, work, and the wait between a GPU's work and a send.
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

// Of one step by itself. A reduction also reads and writes what the target holds; work holds its GPU for its time.
Demand demand_of(Model const& model, Step const& step);

// The same where other engines of its GPUs are at work meanwhile: a ring is slower then.
Demand demand_with_busy_engines(Model const& model, Step const& step);

// Of all of them, with what passes between one step and the next. Throws PlanError naming a step for which a figure is
// unknown.
std::vector<Demand> demands_of(Model const& model, std::vector<Step> const& steps);

// Whether two steps hold one and the same engine, or slots of it.
bool share_an_engine(Demand const& one, Demand const& other);

}  // namespace lanewise
