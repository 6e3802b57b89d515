#include "hw/cuda/runs/plan_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

#include "core/plan/dag.hpp"
#include "core/rules/conditions.hpp"
#include "hw/cuda/kernels/limits.hpp"
#include "hw/cuda/runs/watchdog.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/timing/event_time.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/program/plan_check.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
PlanRun::PlanRun(Plan const& plan, Model const& model, Devices& devices, Drives& drives)
    : steps_(plan.steps), links_(plan.steps, devices), order_(topological_order(plan.steps)) {
  if (!plan.buffers.empty()) shared_.emplace(plan, devices);
  build_steps(model, devices, drives);
  create_streams();
  create_opening_marks();
  std::set<Device> used;
  for (auto const device : assignment_.device_of_stream) used.insert(Device(device));
  gate_ = std::make_unique<ReleaseGate>(std::vector<Device>(used.begin(), used.end()));
}

void PlanRun::build_steps(Model const& model, Devices& devices, Drives& drives) {
  auto const& machine = model.machine();
  drives_.emplace(steps_, machine, drives);
  std::vector<int> device_of_step;
  for (auto const& step : steps_) {
    auto& built = run_steps_.emplace_back();
    auto const number = run_steps_.size() - 1;
    built.prepared = build_step(step, model, devices, shared_ ? &*shared_ : nullptr, drives_->of(number));
    built.end = make_event(built.prepared.move->device());
    device_of_step.push_back(ordinal(built.prepared.move->device()));
    for (auto const& place : {step.from, step.to})
      if (auto const gpu = gpu_at(machine, place); gpu && !near_) near_ = machine.at(machine.numa_of(*gpu)).os_index;
  }
  drives_->remove_names();  // before they are filled, which takes a while
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (has_own_memory(steps_[i])) run_steps_[i].prepared.fill(seed_of(i));
  stream_steps_ = stream_steps(steps_, model, device_of_step);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (waits_for_nothing(StepId(i)))
      begins_with_copies_ = begins_with_copies_ && run_steps_[i].prepared.move->begins_with_copy();
}

void PlanRun::create_streams() {
  assignment_ = assign_streams(stream_steps_, order_);
  for (auto const device : assignment_.device_of_stream) streams_.push_back(make_stream(Device(device)));
  for (auto const id : order_)
    if (!assigned(id).continues) run_steps_[index(id)].start = make_event(device_of(id));
}

void PlanRun::create_opening_marks() {
  std::set<Device> begin_with_plan;
  for (auto const id : order_)
    if (waits_for_nothing(id)) begin_with_plan.insert(device_of(id));
  for (auto const number : assignment_.device_of_stream) {
    auto const device = static_cast<Device>(number);
    if (!begin_with_plan.contains(device) && !marks_.contains(device))
      marks_.emplace(device, OpeningMark{make_stream(device), make_event(device)});
  }
}

void PlanRun::prepare() {
  if (shared_) shared_->fill();
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    auto& step = run_steps_[i].prepared;
    if (has_own_memory(steps_[i])) step.clear();
    step.move->prepare();
  }
  links_.wake();
}

void PlanRun::enqueue(StepId id, int rounds, Timed timed) {
  auto const& step = run_steps_[index(id)];
  auto const device = device_of(id);
  auto* const stream = stream_of(id);
  DeviceGuard const guard(device);
  if (is_held_by_gate(id)) {
    if (begins_with_copies_)
      gate_->hold_copy(device, stream);
    else
      gate_->hold(device, stream);
  }
  for (auto const before : assigned(id).awaited_events)
    check_cuda(cudaStreamWaitEvent(stream, run_steps_[index(before)].end.get(), 0), "cudaStreamWaitEvent");
  bool const every = timed == Timed::Steps;
  if (step.start && (every || waits_for_nothing(id)))
    check_cuda(cudaEventRecord(step.start.get(), stream), "cudaEventRecord");
  for (int i = 0; i < rounds; ++i) step.prepared.move->enqueue(stream);
  if (every || assigned(id).ends_stream || assigned(id).is_awaited)
    check_cuda(cudaEventRecord(step.end.get(), stream), "cudaEventRecord");
}

void PlanRun::enqueue_all(int rounds, Timed timed) {
  EnqueueWatchdog watchdog(*gate_);
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
    watchdog.made_progress();
  }
  began_early_ = watchdog.stop() || began_early_;
}

void PlanRun::run(int rounds, Timed timed) {
  OnNumaNode const binding(near_);
  prepare();
  gate_->close();
  try {
    enqueue_all(rounds, timed);
    gate_->open();
  } catch (...) {
    // What is enqueued must end before the memory it uses is freed.
    gate_->force_open();
    for (auto const& stream : streams_) cudaStreamSynchronize(stream.get());
    for (auto const& [device, mark] : marks_) cudaStreamSynchronize(mark.stream.get());
    throw;
  }
  wait();
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    try {
      run_steps_[i].prepared.move->rethrow();
    } catch (DeviceError const& error) {
      throw DeviceError(fmt::format("step '{}'", steps_[i].transfer), error);
    }
  }
}

RunTimes PlanRun::once() {
  run(1);
  RunTimes found{times(), {}};
  for (auto const& step : found.steps) found.makespan = std::max(found.makespan, step.end);
  mismatches_ = find_mismatches();
  if (!assignment_.has_consecutive_steps) return found;
  run(1, Timed::Streams);
  found.makespan = last_end();
  auto const second = find_mismatches();
  for (std::size_t i = 0; i < second.size(); ++i)
    if (mismatches_[i].empty()) mismatches_[i] = second[i];
  return found;
}

Seconds PlanRun::back_to_back(int count) {
  if (run_steps_.size() != 1) throw std::logic_error("only a plan of one step runs back to back");
  run(count);
  mismatches_ = find_mismatches();
  auto const all = times().front();
  return all.end - all.start;
}

// Polls, so that a device that never finishes is an error.
void PlanRun::wait() {
  for (auto const& [device, mark] : marks_)  // these end: a gate kernel has a time limit
    check_cuda(cudaStreamSynchronize(mark.stream.get()), "cudaStreamSynchronize");
  auto const until = std::chrono::steady_clock::now() + kWaitLimit;
  for (auto const id : order_) {
    auto const name = fmt::format("step '{}'", steps_[index(id)].transfer);
    for (;;) {
      auto const state = cudaEventQuery(run_steps_[index(id)].end.get());
      if (state == cudaSuccess) break;
      if (state != cudaErrorNotReady) {
        cudaGetLastError();
        throw DeviceError(name, static_cast<int>(state), cudaGetErrorString(state));
      }
      cudaGetLastError();  // clears 'not ready', which is no error
      if (std::chrono::steady_clock::now() > until)
        throw DeviceError(name, static_cast<int>(state), "did not end in time");
      std::this_thread::yield();
    }
  }
}

std::map<Device, Seconds> PlanRun::openings() const {
  std::map<Device, Seconds> opened;
  for (auto const& [device, mark] : marks_) opened[device] = between(gate_->zero(device), mark.opened.get());
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    if (!is_held_by_gate(StepId(i))) continue;
    auto const device = device_of(StepId(i));
    auto const start = between(gate_->zero(device), run_steps_[i].start.get());
    auto const earliest = opened.try_emplace(device, start).first;
    earliest->second = std::min(earliest->second, start);
  }
  return opened;
}

std::vector<StepTimes> PlanRun::times() const {
  auto const opened = openings();
  std::vector<StepTimes> times;
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    auto const device = device_of(StepId(i));
    auto const& continued = assigned(StepId(i)).continues;
    auto const& start_event = continued ? run_steps_[index(*continued)].end : run_steps_[i].start;
    auto const zero = opened.at(device);
    auto const start = between(gate_->zero(device), start_event.get()) - zero;
    auto const end = between(gate_->zero(device), run_steps_[i].end.get()) - zero;
    times.push_back({start, std::max(start, gate_->without_event_cost(device, end))});
  }
  return times;
}

Seconds PlanRun::last_end() const {
  auto const opened = openings();
  Seconds last{0};
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    if (!assigned(StepId(i)).ends_stream) continue;
    auto const device = device_of(StepId(i));
    auto const end = between(gate_->zero(device), run_steps_[i].end.get()) - opened.at(device);
    last = std::max(last, gate_->without_event_cost(device, end));
  }
  return last;
}

std::vector<std::string> PlanRun::mismatches() const { return mismatches_; }

std::vector<std::string> PlanRun::find_mismatches() const {
  auto by_step = shared_ ? shared_->mismatches() : std::vector<std::string>(run_steps_.size());
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    if (!has_own_memory(steps_[i])) continue;
    if (auto const wrong = run_steps_[i].prepared.mismatch(seed_of(i))) by_step[i] = text_of(*wrong);
  }
  return by_step;
}

}  // namespace lanewise::hw
