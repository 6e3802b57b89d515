#pragma once
// What runs a plan: the simulator, the hardware, or a fake in tests.
#include <functional>
#include <memory>
#include <vector>

#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

class Model;

// Times of one run, from the common start.
struct StepTimes {
  Seconds start{0};
  Seconds end{0};
};
struct RunTimes {
  std::vector<StepTimes> steps;
  Seconds makespan{0};
};

RunTimes times_of(Trace const& trace);

// Throws DeviceError for the first step that has a mismatch: the first wrong byte of each, empty where all are right.
void refuse_wrong_bytes(Plan const& plan, std::vector<std::string> const& mismatches);

// A plan whose memory and connections are made, to be run any number of times.
class RepeatableRun {
 public:
  RepeatableRun() = default;
  RepeatableRun(RepeatableRun const&) = delete;
  RepeatableRun& operator=(RepeatableRun const&) = delete;
  virtual ~RepeatableRun() = default;

  // One run. Throws DeviceError where a step fails or a byte arrives wrong.
  virtual RunTimes once() = 0;
};

class Executor {
 public:
  Executor() = default;
  Executor(Executor const&) = delete;
  Executor& operator=(Executor const&) = delete;
  virtual ~Executor() = default;

  // Runs every step and reports when each began and ended. Throws PlanError when a step cannot be run here.
  virtual Trace run(Plan const& plan) = 0;
  // Throws as run(), and std::logic_error where is_exact(). `plan` must outlive what is returned.
  virtual std::unique_ptr<RepeatableRun> prepare(Plan const& plan);
  // Whether every run of a plan takes the same time, as in a simulation: then there is nothing to repeat.
  [[nodiscard]] virtual bool is_exact() const { return true; }
};

// Nullptr: there is none in this build.
using MakeExecutor = std::function<std::unique_ptr<Executor>(Model const&)>;

}  // namespace lanewise
