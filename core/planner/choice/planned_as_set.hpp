#pragma once
#include <optional>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

// Whether the collective can be planned as a set: each block goes straight from who has it to who needs it, and nobody
// waits for anybody. So many blocks at most, among GPUs of one node.
bool can_be_planned_as_set(Collective const& collective, Machine const& machine);

// The plan of a collective with its blocks planned together as a set of transfers: each may be divided over several ways,
// and what contends goes one after another. `direct`: a plan that sends every block in one step. `op`: what moves data
// between GPUs. Nullopt if the op reaches none of a GPU's peers. Pieces are multiples of 16 bytes where blocks are.
std::optional<Plan> planned_as_set(Model const& model, Plan const& direct, Op op);

}  // namespace lanewise
