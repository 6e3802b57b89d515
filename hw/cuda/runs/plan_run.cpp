#include "hw/cuda/runs/plan_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/io/error.hpp"
#include "core/plan/dag.hpp"
#include "core/rules/conditions.hpp"
#include "hw/cuda/cuda_error.hpp"
#include "hw/cuda/kernels/limits.hpp"
#include "hw/cuda/runs/watch.hpp"
#include "hw/cuda/timing/event_time.hpp"
#include "hw/memory/pattern.hpp"

namespace lanewise::hw {
namespace {

// A stream beyond the hardware's queues would wait behind another's work: 32 with CUDA_DEVICE_MAX_CONNECTIONS=32, less
// the gate's, the default stream's and those of threads.
constexpr std::size_t kMaxStreams = 24;

// Whether a step has a source and a target of its own, which no other step touches.
bool has_own_memory(Step const& step) { return !step.reads && step.work == Seconds(0); }

// The engine for copies to peers that a step holds, where the part says that its GPU has one such.
std::optional<EngineId> peer_engine(Step const& step, Model const& model) {
  auto const& resources = model.resources();
  auto const gpu = gpu_at(model.machine(), step.from);
  if (!gpu || resources.peer_copy_engines(*gpu) == resources.copy_engines(*gpu)) return std::nullopt;
  auto const engine = resources.peer_copy_engines(*gpu);
  auto const demand = demand_of(model, step);
  bool const only = demand.engines.size() == 1 && *demand.engines.begin() == engine && resources.at(engine).slots == 1;
  return only ? std::optional(engine) : std::nullopt;
}

}  // namespace

PlanRun::PlanRun(Plan const& plan, Model const& model, Devices& devices)
    : steps_(plan.steps), links_(plan.steps, devices), order_(topological_order(plan.steps)) {
  if (!plan.buffers.empty()) shared_.emplace(plan, devices);
  auto const& machine = model.machine();
  for (auto const& step : steps_) {
    auto& laid = laid_.emplace_back();
    laid.step = lay(step, model, devices, shared_ ? &*shared_ : nullptr);
    if (has_own_memory(step)) laid.step.source->fill(seed_of(laid_.size() - 1));
    laid.waits_for = step.after;
    laid.waits_for.insert(laid.waits_for.end(), step.order_only.begin(), step.order_only.end());
    if (laid.waits_for.empty()) begins_with_copies_ = begins_with_copies_ && laid.step.move->begins_with_copy();
    laid.end = make_event(laid.step.move->device());
    for (auto const& place : {step.from, step.to})
      if (auto const gpu = gpu_at(machine, place); gpu && !near_) near_ = machine.at(machine.numa_of(*gpu)).os_index;
  }
  assign_streams(model);
  mark_idle_devices();
  std::vector<Device> used;
  for (auto const& [device, lanes] : lanes_) used.push_back(device);
  gate_ = std::make_unique<ReleaseGate>(used);
}

cudaStream_t PlanRun::fresh_stream(Device device) {
  auto& lanes = lanes_[device];
  if (lanes.streams.size() < kMaxStreams) {
    lanes.streams.push_back(make_stream(device));
    return lanes.streams.back().get();
  }
  return lanes.streams[lanes.next++ % kMaxStreams].get();
}

// A step goes on in the stream of one it waits for, where that is on its device and no other step has taken it:
// what follows in a stream needs no event. Copies to peers that wait for nothing and need the same engine, which does
// one at a time, go through one stream in the plan's order: in streams of their own it would take them in any.
void PlanRun::assign_streams(Model const& model) {
  std::set<StepId> continued;
  std::map<EngineId, StepId> last_of;
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
    if (auto const engine = peer_engine(steps_[index(id)], model); engine && laid.waits_for.empty()) {
      if (auto const last = last_of.find(*engine);
          last != last_of.end() && laid_[index(last->second)].step.move->device() == device) {
        laid.stream = laid_[index(last->second)].stream;
        laid.continues = last->second;
        continued.insert(last->second);
      }
      last_of[*engine] = id;
    }
    if (laid.stream == nullptr) laid.stream = fresh_stream(device);
    if (!laid.continues) laid.start = make_event(device);
  }
  std::map<cudaStream_t, StepId> last_in;
  for (auto const id : order_) {
    auto const& laid = laid_[index(id)];
    auto const [last, fresh] = last_in.try_emplace(laid.stream, id);
    if (!fresh) {
      laid_[index(last->second)].ends_stream = false;
      has_steps_in_a_row_ = true;
      last->second = id;
    }
    for (auto const before : laid.waits_for)
      if (laid_[index(before)].stream != laid.stream) laid_[index(before)].is_awaited = true;
  }
}

void PlanRun::mark_idle_devices() {
  for (auto const& [device, lanes] : lanes_) marks_.emplace(device, Mark{make_stream(device), make_event(device)});
  for (auto const& laid : laid_)
    if (laid.waits_for.empty()) marks_.erase(laid.step.move->device());
}

void PlanRun::prepare() {
  if (shared_) shared_->fill();
  for (std::size_t i = 0; i < laid_.size(); ++i) {
    auto& step = laid_[i].step;
    if (has_own_memory(steps_[i]) && step.target) step.target->clear();
    step.move->prepare();
  }
  links_.wake();
}

void PlanRun::enqueue(StepId id, int rounds, Timed timed) {
  auto& laid = laid_[index(id)];
  auto const device = laid.step.move->device();
  DeviceGuard const guard(device);
  if (laid.waits_for.empty() && !laid.continues) {
    if (begins_with_copies_)
      gate_->hold_copy(device, laid.stream);
    else
      gate_->hold(device, laid.stream);
  }
  for (auto const before : laid.waits_for)
    if (laid_[index(before)].stream != laid.stream)
      check_cuda(cudaStreamWaitEvent(laid.stream, laid_[index(before)].end.get(), 0), "cudaStreamWaitEvent");
  bool const every = timed == Timed::Steps;
  // A step that continues another takes that one's end.
  if (laid.start && (every || laid.waits_for.empty()))
    check_cuda(cudaEventRecord(laid.start.get(), laid.stream), "cudaEventRecord");
  for (int i = 0; i < rounds; ++i) laid.step.move->enqueue(laid.stream);
  if (every || laid.ends_stream || laid.is_awaited)
    check_cuda(cudaEventRecord(laid.end.get(), laid.stream), "cudaEventRecord");
}

void PlanRun::enqueue_all(int rounds, Timed timed) {
  Watch watch(*gate_);
  for (auto const& [device, mark] : marks_) {
    DeviceGuard const guard(device);
    gate_->hold(device, mark.stream.get());
    check_cuda(cudaEventRecord(mark.opened.get(), mark.stream.get()), "cudaEventRecord");
  }
  for (auto const id : order_) {
    try {
      enqueue(id, rounds, timed);
    } catch (DeviceError const& error) {
      throw DeviceError(fmt::format("step '{}'", steps_[index(id)].transfer), error);
    }
    watch.made_progress();
  }
  began_early_ = watch.stop() || began_early_;
}

void PlanRun::run(int rounds, Timed timed) {
  OnNumaNode const binding(near_);
  prepare();
  gate_->close();
  try {
    enqueue_all(rounds, timed);
    gate_->open();
  } catch (...) {
    // What is enqueued runs to its end before anything it uses is given back.
    gate_->force_open();
    for (auto const& laid : laid_) cudaStreamSynchronize(laid.stream);
    for (auto const& [device, mark] : marks_) cudaStreamSynchronize(mark.stream.get());
    throw;
  }
  wait();
  for (auto const& laid : laid_) laid.step.move->rethrow();
}

RunTimes PlanRun::once() {
  run(1);
  RunTimes found{times(), {}};
  for (auto const& step : found.steps) found.makespan = std::max(found.makespan, step.end);
  wrong_ = wrong_now();
  if (!has_steps_in_a_row_) return found;
  run(1, Timed::Streams);
  found.makespan = last_end();
  auto const wrong = wrong_now();
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (wrong_[i].empty()) wrong_[i] = wrong[i];
  return found;
}

Seconds PlanRun::row(int count) {
  if (laid_.size() != 1) throw std::logic_error("a row is of one step");
  run(count);
  wrong_ = wrong_now();
  auto const all = times().front();
  return all.end - all.start;
}

// Polls, so that a device that never finishes is an error.
void PlanRun::wait() {
  for (auto const& [device, mark] : marks_)  // a gate gives up by itself
    check_cuda(cudaStreamSynchronize(mark.stream.get()), "cudaStreamSynchronize");
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

std::map<Device, Seconds> PlanRun::openings() const {
  std::map<Device, Seconds> opened;
  for (auto const& [device, mark] : marks_) opened[device] = between(gate_->zero(device), mark.opened.get());
  for (auto const& laid : laid_) {
    if (!laid.waits_for.empty() || laid.continues) continue;
    auto const device = laid.step.move->device();
    auto const start = between(gate_->zero(device), laid.start.get());
    auto const earliest = opened.try_emplace(device, start).first;
    earliest->second = std::min(earliest->second, start);
  }
  return opened;
}

std::vector<StepTimes> PlanRun::times() const {
  auto const opened = openings();
  std::vector<StepTimes> times;
  for (auto const& laid : laid_) {
    auto const device = laid.step.move->device();
    auto const& start = laid.continues ? laid_[index(*laid.continues)].end : laid.start;
    times.push_back({between(gate_->zero(device), start.get()), between(gate_->zero(device), laid.end.get())});
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    auto const device = laid_[i].step.move->device();
    auto const zero = opened.at(device);
    auto const start = times[i].start - zero;
    times[i] = {start, std::max(start, gate_->without_events(device, times[i].end - zero))};
  }
  return times;
}

Seconds PlanRun::last_end() const {
  auto const opened = openings();
  Seconds last{0};
  for (auto const& laid : laid_) {
    auto const device = laid.step.move->device();
    if (!laid.ends_stream) continue;
    auto const end = between(gate_->zero(device), laid.end.get()) - opened.at(device);
    last = std::max(last, gate_->without_events(device, end));
  }
  return last;
}

std::vector<std::string> PlanRun::mismatches() const { return wrong_; }

std::vector<std::string> PlanRun::wrong_now() const {
  auto by_step = shared_ ? shared_->mismatches() : std::vector<std::string>(laid_.size());
  for (std::size_t i = 0; i < laid_.size(); ++i) {
    if (!has_own_memory(steps_[i])) continue;
    if (auto const wrong = laid_[i].step.arrived().mismatch(seed_of(i))) by_step[i] = text_of(*wrong);
  }
  return by_step;
}

}  // namespace lanewise::hw
