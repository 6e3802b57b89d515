#include "hw/host/host_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/rules/conditions.hpp"
#include "hw/memory/copying_cores.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/nodes/group.hpp"
#include "hw/program/plan_check.hpp"
#include "hw/storage/storage_transfer.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Each step has a thread, so that steps of one instant run at once.
constexpr std::size_t kMaxSteps = 1024;

void refuse_unsupported(Step const& step, Machine const& machine) {
  auto const in_memory = [](Place const& place) { return std::holds_alternative<NumaId>(place); };
  bool const between_memories = in_memory(step.from) && in_memory(step.to);
  bool const with_drive = drive_of(machine, step) && (in_memory(step.from) || in_memory(step.to));
  if (step.work > Seconds(0)) refuse_step(step, machine, "computing is run on GPUs only");
  if (step.reads || step.writes || step.reduces)
    refuse_step(step, machine, "collectives of one machine's host memories are not run");
  if (step.bytes <= Bytes(0)) refuse_step(step, machine, "there is nothing to move");
  if (step.way.nic_from || step.way.nic_to) refuse_step(step, machine, "on one machine there is no network");
  if (!between_memories && !with_drive)
    refuse_step(step, machine, "without a GPU only drives and host memories are run");
}

}  // namespace

HostRun::HostRun(Plan const& plan, Model const& model, Drives& drives)
    : steps_(plan.steps), drives_(plan.steps, model.machine(), drives), may_begin_(plan.steps.size()) {
  if (steps_.size() > kMaxSteps)
    throw PlanError(fmt::format("the plan has {} steps; without a GPU at most {} are run", steps_.size(), kMaxSteps));
  for (std::size_t i = 0; i < steps_.size(); ++i) run_steps_.push_back(build(i, model, drives));
  drives_.remove_names();  // before they are filled, which takes a while
  fill_sources();
  ready_.assign(steps_.size(), false);
  try {
    for (std::size_t i = 0; i < steps_.size(); ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (...) {
    stop();
    throw;
  }
}

HostRun::~HostRun() { stop(); }

void HostRun::stop() {
  std::lock_guard const lock(mutex_);
  is_stopping_ = true;
  for (auto& one : may_begin_) one.notify_one();
}

void HostRun::fill_sources() {
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    auto const& step = run_steps_[i];
    if (step.source)
      step.source->fill(seed_of(i));
    else
      step.from_drive->fill(seed_of(i));
  }
}

void HostRun::make_ready(StepId id) {
  ready_[index(id)] = true;
  ++under_way_;
  may_begin_[index(id)].notify_one();
}

HostRun::RunStep HostRun::build(std::size_t number, Model const& model, Drives& drives) const {
  auto const& step = steps_[number];
  auto const& machine = model.machine();
  refuse_unsupported(step, machine);
  RunStep built;
  auto const memory_at = [&](Place const& place) {
    built.near = machine.at(std::get<NumaId>(place)).os_index;
    return std::make_unique<NodeMemory>(step.bytes, built.near);
  };
  if (auto const drive = drives_.of(number)) {
    bool const from_drive = is_drive(machine, step.from);
    auto& memory = from_drive ? built.target : built.source;
    memory = memory_at(from_drive ? step.to : step.from);
    (from_drive ? built.from_drive : built.to_drive) = drive->range;
    std::shared_ptr<StorageTransfer> const transfer =
        host_transfer(drive->range, from_drive ? IoDirection::FromDrive : IoDirection::ToDrive, memory->data());
    drives.note(drive->drive, std::string(transfer->queue_name()));
    built.move = [transfer] { transfer->run(); };
  } else {
    built.target = memory_at(step.to);
    built.source = memory_at(step.from);
    auto const cores = std::make_shared<CopyingCores>(step.way.cores, built.near);
    built.move = [cores, from = built.source->data(), to = built.target->data(), bytes = step.bytes] {
      cores->copy(to, from, bytes);
    };
  }
  return built;
}

void HostRun::serve(std::size_t number) {
  auto& step = run_steps_[number];
  OnNumaNode const binding(step.near);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      may_begin_[number].wait(lock, [&] { return is_stopping_ || ready_[number]; });
      if (is_stopping_) return;
      ready_[number] = false;
    }
    std::exception_ptr caught;
    step.times.start = monotonic_now();
    try {
      step.move();
    } catch (DeviceError const& error) {
      caught = std::make_exception_ptr(DeviceError(fmt::format("step '{}'", steps_[number].transfer), error));
    } catch (...) {
      caught = std::current_exception();
    }
    step.times.end = monotonic_now();
    end(number, caught);
  }
}

void HostRun::end(std::size_t number, std::exception_ptr caught) {
  std::lock_guard const lock(mutex_);
  --under_way_;
  if (caught && !caught_) caught_ = std::move(caught);
  if (!caught_) runner_->finished(StepId(number), [this](StepId next) { make_ready(next); });
  if (under_way_ == 0) all_ended_.notify_all();
}

RunTimes HostRun::once() {
  for (auto const& step : run_steps_) {
    if (step.to_drive) step.to_drive->clear();
    if (step.target && step.from_drive && !step.from_drive->file().is_ours())
      step.target->fill(kNotOfAFile);
    else if (step.target)
      step.target->clear();
  }
  std::unique_lock lock(mutex_);
  caught_ = nullptr;
  runner_.emplace(steps_);
  auto const release = monotonic_now();
  runner_->begin([this](StepId id) { make_ready(id); });
  all_ended_.wait(lock, [this] { return under_way_ == 0; });
  if (caught_) std::rethrow_exception(caught_);
  RunTimes times;
  for (auto const& step : run_steps_) {
    times.steps.push_back({step.times.start - release, step.times.end - release});
    times.makespan = std::max(times.makespan, times.steps.back().end);
  }
  return times;
}

std::vector<std::string> HostRun::mismatches() const {
  std::vector<std::string> by_step;
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    auto const& step = run_steps_[i];
    std::optional<Mismatch> wrong;
    if (step.to_drive)
      wrong = step.to_drive->mismatch(seed_of(i));
    else if (step.from_drive && !step.from_drive->file().is_ours())
      wrong = step.from_drive->mismatch(step.target->data(), 0, steps_[i].bytes.value());
    else
      wrong = step.target->mismatch(seed_of(i));
    by_step.push_back(wrong ? text_of(*wrong) : std::string());
  }
  return by_step;
}

}  // namespace lanewise::hw
