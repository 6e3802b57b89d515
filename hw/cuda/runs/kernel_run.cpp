#include "hw/cuda/runs/kernel_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "hw/cuda/kernels/limits.hpp"
#include "hw/cuda/runs/watchdog.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/timing/event_time.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// A kernel gives up before the host does, so that its memory can be freed.
constexpr auto kFlagTimeLimit = kWaitLimit / 2;

// When a kernel began and ended, on its GPU's clock, in nanoseconds.
struct KernelSpan {
  std::uint64_t began = 0, ended = 0;
};

// The difference may be negative: blocks read the clock on different multiprocessors.
Seconds clock_difference(std::uint64_t from, std::uint64_t to) {
  return Seconds(static_cast<double>(static_cast<std::int64_t>(to - from)) * 1e-9);
}

}  // namespace

DeviceMemory allocate_zeroed(Device device, std::size_t bytes) {
  auto memory = allocate_on(device, Bytes(static_cast<std::int64_t>(bytes)));
  DeviceGuard const guard(device);
  check_cuda(cudaMemset(memory.get(), 0, bytes), "cudaMemset");
  LANEWISE_CUDA(cudaStreamSynchronize(nullptr));
  return memory;
}

std::uint32_t max_blocks_per_gpu(Plan const& plan, Devices const& devices,
                                 std::uint32_t (*max_resident_blocks)(KernelShape)) {
  std::map<Device, std::uint32_t> programs;
  for (auto const& place : plan.collective->among) ++programs[devices.of(place)];
  auto blocks = std::numeric_limits<std::uint32_t>::max();
  for (auto const& [device, count] : programs) {
    DeviceGuard const guard(device);
    blocks = std::min(blocks, max_resident_blocks(devices.shape(device)) / count);
  }
  return blocks;
}

KernelRun::KernelRun(Plan const& plan, Devices& devices, std::vector<Place> const& gpus, std::vector<TimedTask> tasks)
    : shared_(plan, devices), links_(plan.steps, devices), tasks_(std::move(tasks)), steps_(plan.steps.size()) {
  std::set<Device> used;
  for (auto const& place : gpus) {
    auto const device = devices.of(place);
    used.insert(device);
    gpus_.push_back({device, allocate_zeroed(device, tasks_.size() * sizeof(TaskTimes)),
                     allocate_zeroed(device, sizeof(KernelSpan)), make_stream(device), make_event(device),
                     make_event(device)});
  }
  auto const& machine = devices.machine();
  near_ = machine.at(machine.numa_of(std::get<PciId>(gpus.front()))).os_index;
  gate_ = std::make_unique<ReleaseGate>(std::vector<Device>(used.begin(), used.end()));
}

std::uint64_t KernelRun::address_of(BufferId buffer) const {
  return reinterpret_cast<std::uint64_t>(shared_.data(buffer));
}

KernelClock KernelRun::clock_of(std::size_t gpu) const {
  return {static_cast<TaskTimes*>(gpus_[gpu].times.get()), static_cast<std::uint64_t*>(gpus_[gpu].clock.get()),
          failed_.word(0), static_cast<std::uint64_t>(kFlagTimeLimit.count())};
}

void KernelRun::enqueue(std::size_t gpu) {
  auto const& state = gpus_[gpu];
  DeviceGuard const guard(state.device);
  gate_->hold(state.device, state.stream.get());
  check_cuda(cudaEventRecord(state.begin.get(), state.stream.get()), "cudaEventRecord");
  launch(gpu, epoch_);
  check_cuda(cudaEventRecord(state.end.get(), state.stream.get()), "cudaEventRecord");
}

// Runs everything once untimed. The first run of a kernel fetches its code, which takes 3 us of a small collective on
// an H200; plans are timed as if they ran in a loop.
void KernelRun::rehearse() {
  shared_.fill();
  ++epoch_;
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    DeviceGuard const guard(gpus_[gpu].device);
    launch(gpu, epoch_);
    check_cuda(cudaEventRecord(gpus_[gpu].end.get(), gpus_[gpu].stream.get()), "cudaEventRecord");
  }
  wait();
}

RunTimes KernelRun::once() {
  OnNumaNode const binding(near_);
  links_.wake();
  try {
    rehearse();
    shared_.fill();
    ++epoch_;
    gate_->close();
    EnqueueWatchdog watchdog(*gate_);
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      enqueue(gpu);
      watchdog.made_progress();
    }
    began_early_ = watchdog.stop() || began_early_;
    gate_->open();
  } catch (...) {
    // What is enqueued must end before the memory it uses is freed.
    gate_->force_open();
    for (auto const& state : gpus_) cudaStreamSynchronize(state.stream.get());
    throw;
  }
  wait();
  return times();
}

// Polls, so that a device that never finishes is an error.
void KernelRun::wait() const {
  auto const until = std::chrono::steady_clock::now() + kWaitLimit;
  for (auto const& gpu : gpus_)
    for (;;) {
      auto const state = cudaEventQuery(gpu.end.get());
      if (state == cudaSuccess) break;
      cudaGetLastError();  // clears 'not ready', which is no error
      if (state != cudaErrorNotReady)
        throw DeviceError("program of a GPU", static_cast<int>(state), cudaGetErrorString(state));
      if (std::chrono::steady_clock::now() > until)
        throw DeviceError("program of a GPU", static_cast<int>(state), "did not end in time");
      std::this_thread::yield();
    }
  if (failed_.load(0) != 0)
    throw DeviceError("program of a GPU", ordinal(gpus_.front().device), "a step waited too long for another");
}

// Each kernel writes on its GPU's clock when a task began (its data may not have been there yet) and when it ended. The
// end event of a kernel ties that clock to the gate's opening.
RunTimes KernelRun::times() const {
  RunTimes run;
  run.steps.resize(steps_);
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    auto const& state = gpus_[gpu];
    std::vector<TaskTimes> times(tasks_.size());
    KernelSpan clock;
    check_cuda(cudaMemcpy(times.data(), state.times.get(), times.size() * sizeof(TaskTimes), cudaMemcpyDefault),
               "cudaMemcpy");
    check_cuda(cudaMemcpy(&clock, state.clock.get(), sizeof clock, cudaMemcpyDefault), "cudaMemcpy");
    auto const end = gate_->without_event_cost(state.device, between(state.begin.get(), state.end.get()));
    run.makespan = std::max(run.makespan, end);
    auto const begun = end - clock_difference(clock.began, clock.ended);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (tasks_[i].gpu != gpu) continue;
      StepTimes const at{begun + clock_difference(clock.began, times[i].begin),
                         begun + clock_difference(clock.began, times[i].end)};
      for (auto const step : tasks_[i].steps) run.steps[index(step)] = at;
    }
  }
  return run;
}

}  // namespace lanewise::hw
