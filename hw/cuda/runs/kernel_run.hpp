#pragma once
// A collective run as one kernel on each GPU: what programs with flags (ProgramRun) and LL programs (LLRun) share.
#include <memory>
#include <vector>

#include "hw/cuda/kernels/task_times.hpp"
#include "hw/cuda/memory/host_flag.hpp"
#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/timing/release_gate.hpp"
#include "hw/program/run.hpp"

namespace lanewise::hw {

class KernelRun : public Run {
 public:
  RunTimes once() override;
  [[nodiscard]] std::vector<std::string> mismatches() const override { return shared_.mismatches(); }
  [[nodiscard]] bool began_early() const override { return began_early_; }

 protected:
  // A task of a GPU's kernel, whose times the kernel writes down, and the steps that these times are of.
  struct TimedTask {
    std::size_t gpu = 0;
    std::vector<StepId> steps;
  };
  // What the run keeps for each GPU.
  struct GpuState {
    Device device;
    DeviceMemory times, clock;
    Stream stream;
    Event begin, end;
  };

  template <class Task>
  static std::vector<TimedTask> timed_tasks(std::vector<Task> const& tasks) {
    std::vector<TimedTask> timed;
    for (auto const& task : tasks) timed.push_back({task.gpu, task.steps});
    return timed;
  }
  KernelRun(Plan const& plan, Devices& devices, std::vector<Place> const& gpus, std::vector<TimedTask> tasks);
  // Enqueues the kernel of a GPU in its stream. `epoch`: the number of the run.
  virtual void launch(std::size_t gpu, std::uint32_t epoch) = 0;

  [[nodiscard]] GpuState const& gpu(std::size_t number) const { return gpus_[number]; }
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
  std::vector<GpuState> gpus_;
  std::unique_ptr<ReleaseGate> gate_;
  NumaIndex near_;  // the NUMA node of the first GPU, where the enqueueing thread runs
  std::uint32_t epoch_ = 0;
  bool began_early_ = false;
};

// How many blocks of a kernel every GPU of the collective holds at a time, so that all blocks of a plan can be
// resident. `max_resident_blocks` gives the kernel's number for one device; GPUs that are the same device share it.
std::uint32_t max_blocks_per_gpu(Plan const& plan, Devices const& devices,
                                 std::uint32_t (*max_resident_blocks)(KernelShape));

// Allocates device memory and sets it to zero.
DeviceMemory allocate_zeroed(Device device, std::size_t bytes);

}  // namespace lanewise::hw
