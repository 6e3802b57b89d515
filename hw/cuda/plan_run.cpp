#include "hw/cuda/plan_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/io/error.hpp"
#include "core/plan/dag_runner.hpp"
#include "core/rules/conditions.hpp"
#include "hw/cuda/cuda_error.hpp"
#include "hw/cuda/limits.hpp"

namespace lanewise::hw {
namespace {

// A stream beyond the hardware's queues would wait behind another's work: 32 with CUDA_DEVICE_MAX_CONNECTIONS=32, less
// the gate's, the default stream's and those of threads.
constexpr std::size_t kMostStreams = 24;

// NVLink sleeps when it is idle for some tens of milliseconds and takes about 0.2 ms to wake (measured on H200: 256 MiB
// took 855 us after 100 ms of idleness, 685 us after 30). Plans are timed awake, as benchmarks are: this much traffic
// passes between every pair first, 0.2 ms at 300 GB/s.
constexpr Bytes kWakeBytes{std::int64_t{64} << 20};

// The pattern of a step: of its number, so that no two steps of a plan carry the same bytes.
std::uint64_t seed_of(StepId id) { return 0x6c616e6577697365ULL + index(id) * 0x10001ULL; }

// Opens the gate when the thread that enqueues has made no progress for a while: the driver makes it wait for work
// that is behind the gate.
class Watch {
 public:
  explicit Watch(ReleaseGate const& gate)
      : thread_([this, &gate](std::stop_token const& stop) {
          int seen = -1;
          auto since = std::chrono::steady_clock::now();
          while (!stop.stop_requested()) {
            auto const now = std::chrono::steady_clock::now();
            if (auto const progress = progress_.load(); progress != seen) {
              seen = progress;
              since = now;
            } else if (now - since > kPatience) {
              fired_ = true;
              gate.force_open();
              return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  void made_progress() { ++progress_; }
  // Ends the watch; whether it had to open the gate.
  bool stop() {
    thread_.request_stop();
    thread_.join();
    return fired_;
  }

 private:
  // Longer than any enqueueing call takes by itself (loading a kernel, the first launch of a graph).
  static constexpr auto kPatience = std::chrono::milliseconds(100);
  std::atomic<int> progress_ = 0;
  std::atomic<bool> fired_ = false;
  std::jthread thread_;
};

Seconds between(cudaEvent_t zero, Event const& event) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, zero, event.get()), "cudaEventElapsedTime");
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

}  // namespace

PlanRun::PlanRun(std::vector<Step> steps, Model const& model, Devices& devices) : steps_(std::move(steps)) {
  DagRunner runner(steps_);
  std::vector<StepId> ready;
  auto const add = [&](StepId id) { ready.push_back(id); };
  runner.begin(add);
  while (order_.size() < ready.size()) {  // finished() adds to what is ready
    auto const id = ready[order_.size()];
    order_.push_back(id);
    runner.finished(id, add);
  }
  set_peer_access(model, devices);
  auto const& machine = model.machine();
  for (auto const& step : steps_) {
    auto& laid = laid_.emplace_back();
    laid.step = lay(step, model, devices);
    laid.step.source->fill(seed_of(StepId(laid_.size() - 1)));
    laid.waits_for = step.after;
    laid.waits_for.insert(laid.waits_for.end(), step.turns.begin(), step.turns.end());
    laid.end = make_event(laid.step.move->device());
    for (auto const& place : {step.from, step.to})
      if (auto const gpu = gpu_at(machine, place); gpu && !near_) near_ = machine.at(machine.numa_of(*gpu)).os_index;
  }
  assign_streams();
  std::vector<Device> used;
  for (auto const& [device, lanes] : lanes_) used.push_back(device);
  gate_ = std::make_unique<ReleaseGate>(used);
}

void PlanRun::set_peer_access(Model const& model, Devices& devices) {
  std::set<std::pair<Device, Device>> open;
  std::set<std::pair<Device, Device>> closed;
  for (auto const& step : steps_) {
    auto const need = peer_need(step, devices);
    open.insert(need.open.begin(), need.open.end());
    closed.insert(need.closed.begin(), need.closed.end());
    for (auto const& pair : closed)
      if (open.contains(pair))
        throw PlanError(
            fmt::format("step '{}' ({}): CUDA grants peer access between two GPUs or it does not; another "
                        "step of this plan has it the other way",
                        step.transfer, text_of(step.way, model.machine())));
  }
  for (auto const& [device, peer] : closed) devices.keep_from(device, peer);
  for (auto const& [device, peer] : open) {
    devices.let_reach(device, peer);
    for (auto const end : {device, peer})
      if (!wake_memory_.contains(end)) wake_memory_.emplace(end, allocate_on(end, kWakeBytes));
    awake_.emplace_back(device, peer);
  }
}

cudaStream_t PlanRun::fresh_stream(Device device) {
  auto& lanes = lanes_[device];
  if (lanes.streams.size() < kMostStreams) {
    lanes.streams.push_back(make_stream(device));
    return lanes.streams.back().get();
  }
  return lanes.streams[lanes.next++ % kMostStreams].get();
}

// A step goes on in the stream of one it waits for, where that is on its device and no other step has taken it:
// what follows in a stream needs no event.
void PlanRun::assign_streams() {
  std::set<StepId> continued;
  for (auto const id : order_) {
    auto& laid = laid_[index(id)];
    auto const device = laid.step.move->device();
    for (auto const before : laid.waits_for) {
      auto const& other = laid_[index(before)];
      if (other.step.move->device() != device || !continued.insert(before).second) continue;
      laid.stream = other.stream;
      if (laid.waits_for.size() == 1) laid.continues = before;
      break;
    }
    if (laid.stream == nullptr) laid.stream = fresh_stream(device);
    if (!laid.continues) laid.start = make_event(device);
  }
}

void PlanRun::prepare() {
  for (auto& laid : laid_) {
    if (laid.step.target) laid.step.target->clear();
    laid.step.move->prepare();
  }
  wake_links();
}

void PlanRun::wake_links() {
  for (auto const& [from, to] : awake_) {
    DeviceGuard const guard(from);
    check_cuda(cudaMemcpyAsync(wake_memory_.at(to).get(), wake_memory_.at(from).get(),
                               static_cast<std::size_t>(kWakeBytes.value()), cudaMemcpyDefault, nullptr),
               "cudaMemcpyAsync");
  }
  for (auto const& [device, memory] : wake_memory_) {
    DeviceGuard const guard(device);
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
}

void PlanRun::enqueue(StepId id, int rounds) {
  auto& laid = laid_[index(id)];
  auto const device = laid.step.move->device();
  DeviceGuard const guard(device);
  if (laid.waits_for.empty()) gate_->hold(device, laid.stream);
  for (auto const before : laid.waits_for)
    if (laid_[index(before)].stream != laid.stream)
      check_cuda(cudaStreamWaitEvent(laid.stream, laid_[index(before)].end.get(), 0), "cudaStreamWaitEvent");
  // A time between two copies costs 3 us of an H200's engine, so a step that continues another takes that one's end.
  if (laid.start) check_cuda(cudaEventRecord(laid.start.get(), laid.stream), "cudaEventRecord");
  for (int i = 0; i < rounds; ++i) laid.step.move->enqueue(laid.stream);
  check_cuda(cudaEventRecord(laid.end.get(), laid.stream), "cudaEventRecord");
}

void PlanRun::enqueue_all(int rounds) {
  Watch watch(*gate_);
  for (auto const id : order_) {
    try {
      enqueue(id, rounds);
    } catch (DeviceError const& error) {
      throw DeviceError(fmt::format("step '{}'", steps_[index(id)].transfer), error);
    }
    watch.made_progress();
  }
  began_early_ = watch.stop() || began_early_;
}

void PlanRun::run(int rounds) {
  OnNumaNode const binding(near_);
  prepare();
  gate_->close();
  try {
    enqueue_all(rounds);
    gate_->open();
  } catch (...) {
    // What is enqueued runs to its end before anything it uses is given back.
    gate_->force_open();
    for (auto const& laid : laid_) cudaStreamSynchronize(laid.stream);
    throw;
  }
  wait();
  for (auto const& laid : laid_) laid.step.move->rethrow();
}

std::vector<StepTimes> PlanRun::once() {
  run(1);
  return times();
}

Seconds PlanRun::row(int count) {
  if (laid_.size() != 1) throw std::logic_error("a row is of one step");
  run(count);
  auto const all = times().front();
  return all.end - all.start;
}

// Polls, so that a device that never finishes is an error.
void PlanRun::wait() {
  auto const until = std::chrono::steady_clock::now() + kLongestWait;
  for (auto const id : order_) {
    auto const name = fmt::format("step '{}'", steps_[index(id)].transfer);
    for (;;) {
      auto const state = cudaEventQuery(laid_[index(id)].end.get());
      if (state == cudaSuccess) break;
      if (state != cudaErrorNotReady) {
        cudaGetLastError();
        throw DeviceError(name, static_cast<int>(state), cudaGetErrorString(state));
      }
      cudaGetLastError();  // 'not ready' is no error to remember
      if (std::chrono::steady_clock::now() > until)
        throw DeviceError(name, static_cast<int>(state), "did not end in time");
      std::this_thread::yield();
    }
  }
}

std::vector<StepTimes> PlanRun::times() const {
  std::vector<StepTimes> times;
  std::map<Device, Seconds> opened;  // when the first gate in a stream of a device let go, on that device's clock
  for (auto const& laid : laid_) {
    auto const device = laid.step.move->device();
    auto const& start = laid.continues ? laid_[index(*laid.continues)].end : laid.start;
    times.push_back({between(gate_->zero(device), start), between(gate_->zero(device), laid.end)});
    auto const earliest = opened.try_emplace(device, Seconds(0)).first;
    earliest->second = std::min(earliest->second, times.back().start);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto const zero = opened.at(laid_[i].step.move->device());
    times[i] = {times[i].start - zero, times[i].end - zero};
  }
  return times;
}

std::optional<Mismatch> PlanRun::mismatch(StepId step) const {
  return laid_[index(step)].step.arrived().mismatch(seed_of(step));
}

}  // namespace lanewise::hw
