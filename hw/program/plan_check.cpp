#include "hw/program/plan_check.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise::hw {

void check_plan(Plan const& plan, Machine const& machine) {
  plan.verify(machine);
  if (plan.fingerprint != fingerprint(machine))
    throw InputError(fmt::format("the plan was made for another machine or other settings than '{}'", machine.name));
  if (!plan.folding.empty()) throw InputError("the plan is folded, and hardware runs every step: plan with --unfolded");
}

void refuse_step(Step const& step, Machine const& machine, std::string_view why) {
  throw PlanError(fmt::format("step '{}' ({}): {}", step.transfer, text_of(step.way, machine), why));
}

bool has_own_memory(Step const& step) { return !step.reads && step.work == Seconds(0); }

}  // namespace lanewise::hw
