#pragma once
// The steps that a node's GPUs do by themselves, in a plan of several nodes. They are enqueued ahead of time: a step
// begins on the GPU as soon as the steps of this node's GPUs that it waits for have ended, and, where it waits for
// something else (a message, a core), as soon as the host says so. No step waits for the host between two of the GPU's.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/memory/memory.hpp"
#include "hw/network/node_plan.hpp"
#include "hw/options/drive_paths.hpp"

namespace lanewise::hw {

class DeviceSteps {
 public:
  DeviceSteps() = default;
  DeviceSteps(DeviceSteps const&) = delete;
  DeviceSteps& operator=(DeviceSteps const&) = delete;
  virtual ~DeviceSteps() = default;  // ends what is enqueued

  // Clears the targets of a run and enqueues its first steps; those that wait for nothing begin with start().
  virtual void prepare() = 0;
  virtual void start() = 0;
  // Everything outside this node's GPUs that a step waits for has ended.
  virtual void release(StepId step) = 0;
  // Appends the steps that have ended since the last call; enqueues more. Never waits. Throws DeviceError naming a
  // step.
  virtual void poll(std::vector<StepId>& ended) = 0;
  // Throws DeviceError where a GPU reports a failure.
  virtual void check() = 0;
  // For each step with memory of its own the first wrong byte, in words; empty: every byte is right.
  [[nodiscard]] virtual std::vector<std::string> mismatches() const = 0;
};

// What of a node plan runs in this process. `buffers`: the plan's, by buffer of the node plan. `waits_outside`: by
// step, whether it waits for more than steps of the plan. `order`: the steps as all processes begin them.
struct DeviceWork {
  NodeSteps steps;
  std::vector<Memory*> buffers;
  std::vector<bool> waits_outside;
  std::vector<StepId> order;
  DrivePaths drives;  // of the node plan's machine
};

// `first_gpu`: the number of the node's first GPU among those that this process sees, where several nodes share a host.
// Throws MissingError where this build has no CUDA or this host not the GPUs, PlanError for a step that is not run.
std::unique_ptr<DeviceSteps> make_device_steps(DeviceWork const& work, std::optional<int> first_gpu);

}  // namespace lanewise::hw
