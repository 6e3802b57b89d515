#include "hw/cuda/program_run.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "core/io/error.hpp"
#include "hw/cuda/cuda_error.hpp"
#include "hw/cuda/limits.hpp"
#include "hw/cuda/watch.hpp"

namespace lanewise::hw {
namespace {

// A kernel gives up before the host does, so that what it uses can be given back.
constexpr auto kLongestFlag = kLongestWait / 2;

DeviceMemory zeros_on(Device device, std::size_t bytes) {
  auto memory = allocate_on(device, Bytes(static_cast<std::int64_t>(bytes)));
  DeviceGuard const guard(device);
  check_cuda(cudaMemset(memory.get(), 0, bytes), "cudaMemset");
  LANEWISE_CUDA(cudaStreamSynchronize(nullptr));
  return memory;
}

std::uint64_t address(void const* memory) { return reinterpret_cast<std::uint64_t>(memory); }

// Of one GPU's program, so that all blocks of all programs are resident; GPUs that are one device share what it holds.
std::uint32_t most_blocks(Plan const& plan, Devices const& devices) {
  std::map<Device, std::uint32_t> programs;
  for (auto const& place : plan.collective->among) ++programs[devices.of(place)];
  auto most = std::numeric_limits<std::uint32_t>::max();
  for (auto const& [device, count] : programs) {
    DeviceGuard const guard(device);
    most = std::min(most, most_blocks_of_program(devices.shape(device)) / count);
  }
  return most;
}

Seconds between(Event const& from, Event const& to) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, from.get(), to.get()), "cudaEventElapsedTime");
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

// Blocks read the clock on multiprocessors of their own: a later reading can be the smaller one.
Seconds clocked(std::uint64_t from, std::uint64_t to) {
  return Seconds(static_cast<double>(static_cast<std::int64_t>(to - from)) * 1e-9);
}

}  // namespace

ProgramRun::ProgramRun(Plan const& plan, Devices& devices)
    : shared_(plan, devices),
      links_(plan.steps, devices),
      programs_(lower(plan, most_blocks(plan, devices))),
      steps_(plan.steps.size()) {
  std::set<Device> used;
  for (auto const& place : programs_.gpus) {
    used.insert(devices.of(place));
    lanes_.push_back(lane_on(devices.of(place)));
  }
  load(plan.buffers);
  auto const& machine = devices.machine();
  near_ = machine.at(machine.numa_of(std::get<PciId>(programs_.gpus.front()))).os_index;
  gate_ = std::make_unique<ReleaseGate>(std::vector<Device>(used.begin(), used.end()));
}

ProgramRun::Lane ProgramRun::lane_on(Device device) const {
  Lane lane{};
  lane.device = device;
  lane.flags = zeros_on(device, flags_of(programs_) * sizeof(std::uint32_t));
  lane.counters = zeros_on(device, programs_.tasks.size() * sizeof(std::uint32_t));
  lane.times = zeros_on(device, programs_.tasks.size() * sizeof(TaskTimes));
  lane.clock = zeros_on(device, sizeof(Clock));
  lane.stream = make_stream(device);
  lane.begin = make_event(device);
  lane.end = make_event(device);
  return lane;
}

void ProgramRun::load(std::vector<lanewise::Buffer> const& buffers) {
  Addresses where;
  for (std::size_t i = 0; i < buffers.size(); ++i) where.buffers.push_back(address(shared_.data(BufferId(i))));
  for (auto const& lane : lanes_) where.flags.push_back(address(lane.flags.get()));
  for (std::size_t gpu = 0; gpu < lanes_.size(); ++gpu) {
    auto& lane = lanes_[gpu];
    auto const image = image_of(programs_, buffers, gpu, where);
    lane.image = zeros_on(lane.device, image.bytes.size());
    check_cuda(cudaMemcpy(lane.image.get(), image.bytes.data(), image.bytes.size(), cudaMemcpyDefault), "cudaMemcpy");
    lane.blocks = programs_.blocks_on(gpu);
    auto& arguments = lane.arguments;
    arguments.image = static_cast<ulonglong2 const*>(lane.image.get());
    arguments.image_bytes = static_cast<std::uint32_t>(image.bytes.size());
    arguments.flags = static_cast<std::uint32_t*>(lane.flags.get());
    arguments.counters = static_cast<std::uint32_t*>(lane.counters.get());
    arguments.times = static_cast<TaskTimes*>(lane.times.get());
    arguments.clock = static_cast<std::uint64_t*>(lane.clock.get());
    arguments.failed = failed_.word(0);
    arguments.limit_ns = static_cast<std::uint64_t>(kLongestFlag.count());
    arguments.arrivals = static_cast<std::uint32_t>(image.arrivals.size());
    std::copy(image.arrivals.begin(), image.arrivals.end(), arguments.arrival);
  }
}

void ProgramRun::enqueue(Lane& lane) {
  DeviceGuard const guard(lane.device);
  gate_->hold(lane.device, lane.stream.get());
  check_cuda(cudaEventRecord(lane.begin.get(), lane.stream.get()), "cudaEventRecord");
  lane.arguments.epoch = epoch_;
  launch_program(lane.arguments, lane.blocks, lane.stream.get());
  check_cuda(cudaEventRecord(lane.end.get(), lane.stream.get()), "cudaEventRecord");
}

RunTimes ProgramRun::once() {
  OnNumaNode const binding(near_);
  shared_.fill();
  links_.wake();
  ++epoch_;
  gate_->close();
  try {
    Watch watch(*gate_);
    for (auto& lane : lanes_) {
      enqueue(lane);
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
void ProgramRun::wait() const {
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

// The kernels say on their GPU's clock when each task began and ended; a kernel's own end is the event's.
RunTimes ProgramRun::times() const {
  RunTimes run;
  run.steps.resize(steps_);
  for (std::size_t gpu = 0; gpu < lanes_.size(); ++gpu) {
    auto const& lane = lanes_[gpu];
    std::vector<TaskTimes> times(programs_.tasks.size());
    Clock clock;
    check_cuda(cudaMemcpy(times.data(), lane.times.get(), times.size() * sizeof(TaskTimes), cudaMemcpyDefault),
               "cudaMemcpy");
    check_cuda(cudaMemcpy(&clock, lane.clock.get(), sizeof clock, cudaMemcpyDefault), "cudaMemcpy");
    auto const end = between(lane.begin, lane.end);
    run.makespan = std::max(run.makespan, end);
    auto const begun = end - clocked(clock.began, clock.ended);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (programs_.tasks[i].gpu != gpu) continue;
      StepTimes const at{begun + clocked(clock.began, times[i].begin), begun + clocked(clock.began, times[i].end)};
      for (auto const step : programs_.tasks[i].steps) run.steps[index(step)] = at;
    }
  }
  return run;
}

}  // namespace lanewise::hw
