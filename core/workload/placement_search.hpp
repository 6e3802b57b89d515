#pragma once
// Which order of ranks makes the shortest step on a machine.
#include <string>
#include <vector>

#include "core/workload/step_time.hpp"

namespace lanewise {

// Every order of those of tp, cp, dp and pp that have more than one rank, innermost first: "tp-dp". The first is that
// of `parallel` itself. Experts are on consecutive ranks in all of them.
std::vector<std::string> distinct_orders(Parallelism const& parallel);
// The same order with the others, as Parallelism has it.
std::string full_order(std::string const& order);

// Composes the step in every order, by the planner's own estimate of its messages; the first of several that are
// equally fast wins. `stage`: the computing, which does not depend on the order. Throws PlanError where no order can be
// done.
SearchedOrder search_order(Workload const& workload, Model const& model, StageTime const& stage);

}  // namespace lanewise
