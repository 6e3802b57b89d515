#pragma once
#include <functional>

#include "lanewise/plan/plan.hpp"
#include "python/machine.hpp"

namespace lanewise::python {

// A plan with the machine that it was made for, and how to plan the same work on another model.
struct PlannedWork {
  SharedMachine machine;
  Plan plan;
  std::function<Plan(Model const&)> replan;
};

}  // namespace lanewise::python
