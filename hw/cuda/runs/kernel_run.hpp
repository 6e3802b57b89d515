#pragma once
// A collective as one kernel a GPU, run as often as wanted: what its two forms, programs with flags and programs of
// lines, have in common.
#include <vector>

#include "hw/cuda/memory/host_flag.hpp"
#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/runs/run.hpp"
#include "hw/cuda/timing/release_gate.hpp"
#include "hw/cuda/timing/task_times.hpp"

namespace lanewise::hw {

class KernelRun : public Run {
 public:
  RunTimes once() override;
  [[nodiscard]] std::vector<std::string> mismatches() const override { return shared_.mismatches(); }
  [[nodiscard]] bool began_early() const override { return began_early_; }

 protected:
  // What some blocks of a GPU do, whose times its kernel writes down, and the steps that have them.
  struct TimedTask {
    std::size_t gpu = 0;
    std::vector<StepId> steps;
  };
  // What one GPU has of its own.
  struct Lane {
    Device device;
    DeviceMemory times, clock;
    Stream stream;
    Event begin, end;
  };

  template <class Task>
  static std::vector<TimedTask> timed(std::vector<Task> const& tasks) {
    std::vector<TimedTask> timed;
    for (auto const& task : tasks) timed.push_back({task.gpu, task.steps});
    return timed;
  }
  KernelRun(Plan const& plan, Devices& devices, std::vector<Place> const& gpus, std::vector<TimedTask> tasks);
  virtual void launch(std::size_t gpu, std::uint32_t epoch) = 0;

  [[nodiscard]] Lane const& lane(std::size_t gpu) const { return lanes_[gpu]; }
  [[nodiscard]] std::uint64_t address_of(BufferId buffer) const;
  [[nodiscard]] KernelClock clock_of(std::size_t gpu) const;

 private:
  void rehearse();
  void enqueue(std::size_t gpu);
  void wait() const;
  [[nodiscard]] RunTimes times() const;

  SharedBuffers shared_;
  Links links_;
  std::vector<TimedTask> tasks_;
  std::size_t steps_;
  HostFlags failed_{1};
  std::vector<Lane> lanes_;
  std::unique_ptr<ReleaseGate> gate_;
  NumaIndex near_;  // of the first GPU: where the thread that enqueues runs
  std::uint32_t epoch_ = 0;
  bool began_early_ = false;
};

// Of a kernel: as many as every GPU holds at a time, so that all blocks of a plan are resident; GPUs that are one
// device share what it holds.
std::uint32_t max_blocks(Plan const& plan, Devices const& devices, std::uint32_t (*of_kernel)(KernelShape));

// Memory of a device, all zeros.
DeviceMemory zeros_on(Device device, std::size_t bytes);

}  // namespace lanewise::hw
