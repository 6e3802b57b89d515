#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hw/options/repetition.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise::hw {

// A plan prepared on real devices, by streams, kernels or threads, that can be run any number of times.
class Run {
 public:
  Run() = default;
  Run(Run const&) = delete;
  Run& operator=(Run const&) = delete;
  virtual ~Run() = default;

  // Fills and clears memory, releases everything at once and waits for its end. Times are from that release.
  // Throws DeviceError naming what failed.
  virtual RunTimes once() = 0;
  // For each step the first wrong byte of the last run, in words; empty: every byte is right. Checked on the devices.
  [[nodiscard]] virtual std::vector<std::string> mismatches() const = 0;
  // Whether a run began before everything was enqueued, because the driver made the host wait.
  [[nodiscard]] virtual bool began_early() const { return false; }
};

// One run after another, of which every byte must be right. `plan` must outlive what is returned.
std::unique_ptr<RepeatableRun> checked_run(Plan const& plan, std::unique_ptr<Run> run);

// Runs it as often as `repetition` says; the medians, their spread and noise, and the first wrong byte of each step.
// Throws as Run::once(), and Interrupted. The environment lacks what it ran on.
Trace repeated_trace(Plan const& plan, Run& run, Repetition repetition);

}  // namespace lanewise::hw
