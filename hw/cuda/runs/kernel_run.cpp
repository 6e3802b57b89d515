#include "hw/cuda/runs/kernel_run.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "core/io/error.hpp"
#include "hw/cuda/cuda_error.hpp"
#include "hw/cuda/kernels/limits.hpp"
#include "hw/cuda/runs/watch.hpp"
#include "hw/cuda/timing/event_time.hpp"

namespace lanewise::hw {
namespace {

// A kernel gives up before the host does, so that what it uses can be given back.
constexpr auto kLongestFlag = kLongestWait / 2;

// On a GPU's clock: when its kernel began and ended.
struct Span {
  std::uint64_t began = 0, ended = 0;
};

// Blocks read the clock on multiprocessors of their own: a later reading can be the smaller one.
Seconds clocked(std::uint64_t from, std::uint64_t to) {
  return Seconds(static_cast<double>(static_cast<std::int64_t>(to - from)) * 1e-9);
}

}  // namespace

DeviceMemory zeros_on(Device device, std::size_t bytes) {
  auto memory = allocate_on(device, Bytes(static_cast<std::int64_t>(bytes)));
  DeviceGuard const guard(device);
  check_cuda(cudaMemset(memory.get(), 0, bytes), "cudaMemset");
  LANEWISE_CUDA(cudaStreamSynchronize(nullptr));
  return memory;
}

std::uint32_t max_blocks(Plan const& plan, Devices const& devices, std::uint32_t (*of_kernel)(KernelShape)) {
  std::map<Device, std::uint32_t> programs;
  for (auto const& place : plan.collective->among) ++programs[devices.of(place)];
  auto most = std::numeric_limits<std::uint32_t>::max();
  for (auto const& [device, count] : programs) {
    DeviceGuard const guard(device);
    most = std::min(most, of_kernel(devices.shape(device)) / count);
  }
  return most;
}

KernelRun::KernelRun(Plan const& plan, Devices& devices, std::vector<Place> const& gpus, std::vector<TimedTask> tasks)
    : shared_(plan, devices), links_(plan.steps, devices), tasks_(std::move(tasks)), steps_(plan.steps.size()) {
  std::set<Device> used;
  for (auto const& place : gpus) {
    auto const device = devices.of(place);
    used.insert(device);
    lanes_.push_back({device, zeros_on(device, tasks_.size() * sizeof(TaskTimes)), zeros_on(device, sizeof(Span)),
                      make_stream(device), make_event(device), make_event(device)});
  }
  auto const& machine = devices.machine();
  near_ = machine.at(machine.numa_of(std::get<PciId>(gpus.front()))).os_index;
  gate_ = std::make_unique<ReleaseGate>(std::vector<Device>(used.begin(), used.end()));
}

std::uint64_t KernelRun::address_of(BufferId buffer) const {
  return reinterpret_cast<std::uint64_t>(shared_.data(buffer));
}

KernelClock KernelRun::clock_of(std::size_t gpu) const {
  return {static_cast<TaskTimes*>(lanes_[gpu].times.get()), static_cast<std::uint64_t*>(lanes_[gpu].clock.get()),
          failed_.word(0), static_cast<std::uint64_t>(kLongestFlag.count())};
}

void KernelRun::enqueue(std::size_t gpu) {
  auto const& lane = lanes_[gpu];
  DeviceGuard const guard(lane.device);
  gate_->hold(lane.device, lane.stream.get());
  check_cuda(cudaEventRecord(lane.begin.get(), lane.stream.get()), "cudaEventRecord");
  launch(gpu, epoch_);
  check_cuda(cudaEventRecord(lane.end.get(), lane.stream.get()), "cudaEventRecord");
}

// A kernel's code is fetched as it first runs, 3 us of an H200 for a small collective; plans are timed as in a loop.
void KernelRun::rehearse() {
  shared_.fill();
  ++epoch_;
  for (std::size_t gpu = 0; gpu < lanes_.size(); ++gpu) {
    DeviceGuard const guard(lanes_[gpu].device);
    launch(gpu, epoch_);
    check_cuda(cudaEventRecord(lanes_[gpu].end.get(), lanes_[gpu].stream.get()), "cudaEventRecord");
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
    Watch watch(*gate_);
    for (std::size_t gpu = 0; gpu < lanes_.size(); ++gpu) {
      enqueue(gpu);
      watch.made_progress();
    }
    began_early_ = watch.stop() || began_early_;
    gate_->open();
  } catch (...) {
    // What is enqueued runs to its end before anything it uses is given back.
    gate_->force_open();
    for (auto const& lane : lanes_) cudaStreamSynchronize(lane.stream.get());
    throw;
  }
  wait();
  return times();
}

// Polls, so that a device that never finishes is an error.
void KernelRun::wait() const {
  auto const until = std::chrono::steady_clock::now() + kLongestWait;
  for (auto const& lane : lanes_)
    for (;;) {
      auto const state = cudaEventQuery(lane.end.get());
      if (state == cudaSuccess) break;
      cudaGetLastError();  // 'not ready' is no error to remember
      if (state != cudaErrorNotReady)
        throw DeviceError("program of a GPU", static_cast<int>(state), cudaGetErrorString(state));
      if (std::chrono::steady_clock::now() > until)
        throw DeviceError("program of a GPU", static_cast<int>(state), "did not end in time");
      std::this_thread::yield();
    }
  if (failed_.load(0) != 0)
    throw DeviceError("program of a GPU", ordinal(lanes_.front().device), "a step waited too long for another");
}

// The kernels say on their GPU's clock when each task was begun, whether its data were there or not, and when the first
// warp of each of its blocks was through; a kernel's own end is the event's.
RunTimes KernelRun::times() const {
  RunTimes run;
  run.steps.resize(steps_);
  for (std::size_t gpu = 0; gpu < lanes_.size(); ++gpu) {
    auto const& lane = lanes_[gpu];
    std::vector<TaskTimes> times(tasks_.size());
    Span clock;
    check_cuda(cudaMemcpy(times.data(), lane.times.get(), times.size() * sizeof(TaskTimes), cudaMemcpyDefault),
               "cudaMemcpy");
    check_cuda(cudaMemcpy(&clock, lane.clock.get(), sizeof clock, cudaMemcpyDefault), "cudaMemcpy");
    auto const end = gate_->without_events(lane.device, between(lane.begin.get(), lane.end.get()));
    run.makespan = std::max(run.makespan, end);
    auto const begun = end - clocked(clock.began, clock.ended);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (tasks_[i].gpu != gpu) continue;
      StepTimes const at{begun + clocked(clock.began, times[i].begin), begun + clocked(clock.began, times[i].end)};
      for (auto const step : tasks_[i].steps) run.steps[index(step)] = at;
    }
  }
  return run;
}

}  // namespace lanewise::hw
