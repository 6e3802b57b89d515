#pragma once
// What the order of a plan's steps gains over orders that nobody fixes. Copies of one engine go one after the other; a
// program that starts them in streams of their own leaves their order to chance, and copies collide at their targets.
#include <optional>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise {

// Makespans of the same steps, all issued at once in random orders.
struct UnorderedRuns {
  Seconds mean{0};
  Seconds fastest{0};
  Seconds slowest{0};
};

// Nullopt where there is no order to choose: the plan is no set of transfers, or no engine has two of its steps.
std::optional<UnorderedRuns> run_unordered(Plan const& plan, Model const& model, MakeExecutor const& executor);

}  // namespace lanewise
