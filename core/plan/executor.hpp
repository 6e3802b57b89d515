#pragma once
// What runs a plan: the simulator, the hardware, or a fake in tests.
#include <functional>
#include <memory>

#include "core/plan/plan.hpp"
#include "core/plan/trace.hpp"

namespace lanewise {

class Model;

class Executor {
 public:
  Executor() = default;
  Executor(Executor const&) = delete;
  Executor& operator=(Executor const&) = delete;
  virtual ~Executor() = default;

  // Runs every step and reports when each began and ended. Throws PlanError when a step cannot be run here.
  virtual Trace run(Plan const& plan) = 0;
};

// Nullptr: there is none in this build.
using MakeExecutor = std::function<std::unique_ptr<Executor>(Model const&)>;

}  // namespace lanewise
