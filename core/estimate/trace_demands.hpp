#pragma once
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// Beyond so many different demands a trace does not have them: they would be most of its file.
inline constexpr std::size_t kMaxTraceDemands = 4096;

// Says of each step of a trace of this plan what it takes of which resources and which engines it holds, so that the
// load of a resource at one moment can be told, and when an engine is idle. Does nothing for a folded plan, of which
// one step stands for many.
void describe_demands(Trace& trace, Plan const& plan, Model const& model);

}  // namespace lanewise
