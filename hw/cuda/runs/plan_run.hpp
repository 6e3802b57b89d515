#pragma once
// A plan carried out by CUDA streams: buffers, moves, streams and events.
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/runs/step_builder.hpp"
#include "hw/cuda/timing/release_gate.hpp"
#include "hw/program/run.hpp"
#include "hw/program/stream_assignment.hpp"
#include "hw/storage/drives.hpp"

namespace lanewise::hw {

class PlanRun : public Run {
 public:
  // Throws PlanError or MissingError naming the step that cannot be run here. `plan` must outlive this.
  PlanRun(Plan const& plan, Model const& model, Devices& devices, Drives& drives);

  // Clears the targets, enqueues everything behind the gate, opens it and waits. Where a stream carries several steps
  // it does so twice: the steps' times come from a run that times each step, the makespan from a run that does not,
  // because an event between two copies costs 3 us of an H200's engine. Throws DeviceError naming the step.
  RunTimes once() override;
  // Runs the plan's only step `count` times back to back in its stream; the time from before the first to after the
  // last. Throws std::logic_error for a plan of several steps.
  Seconds back_to_back(int count);
  [[nodiscard]] std::vector<std::string> mismatches() const override;
  [[nodiscard]] bool began_early() const override { return began_early_; }

 private:
  struct RunStep {
    PreparedStep prepared;
    Event start;  // none where it continues another step, whose end is its start
    Event end;
  };
  // What is timed: every step, or only where streams begin and end.
  enum class Timed : std::uint8_t { Steps, Streams };
  // Notes when the gate opens on a device where no step begins with the plan.
  struct OpeningMark {
    Stream stream;
    Event opened;
  };

  void build_steps(Model const& model, Devices& devices, Drives& drives);
  void create_streams();
  void create_opening_marks();
  [[nodiscard]] cudaStream_t stream_of(StepId id) const { return streams_[assigned(id).stream].get(); }
  [[nodiscard]] StepStream const& assigned(StepId id) const { return assignment_.steps[index(id)]; }
  [[nodiscard]] bool waits_for_nothing(StepId id) const { return stream_steps_[index(id)].waits_for.empty(); }
  // It waits for the gate alone.
  [[nodiscard]] bool is_held_by_gate(StepId id) const { return waits_for_nothing(id) && !assigned(id).continues; }
  [[nodiscard]] Device device_of(StepId id) const { return Device(stream_steps_[index(id)].device); }

  void prepare();
  // Enqueues every step `rounds` times in a row.
  void run(int rounds, Timed timed = Timed::Steps);
  void enqueue(StepId id, int rounds, Timed timed);
  void enqueue_all(int rounds, Timed timed);
  void wait();
  [[nodiscard]] std::vector<std::string> find_mismatches() const;
  // When the gate opened for each device's first step, from that device's zero.
  [[nodiscard]] std::map<Device, Seconds> openings() const;
  [[nodiscard]] std::vector<StepTimes> times() const;
  // The end of the last stream, after a run with Timed::Streams.
  [[nodiscard]] Seconds last_end() const;

  std::vector<Step> const& steps_;
  std::optional<SharedBuffers> shared_;  // of a collective
  std::optional<PlanDrives> drives_;
  Links links_;
  std::vector<StepId> order_;
  std::vector<RunStep> run_steps_;
  std::vector<StreamStep> stream_steps_;
  StreamAssignment assignment_;
  std::vector<Stream> streams_;
  std::map<Device, OpeningMark> marks_;
  std::unique_ptr<ReleaseGate> gate_;
  NumaIndex near_;  // the NUMA node of the first GPU, where the enqueueing thread runs
  bool began_early_ = false;
  // Every step that waits for nothing begins with a copy engine. The gate for copies opens 8 us later than the gate
  // kernel, so where both kinds begin together all steps take the gate kernel; behind that an engine starts 4 us later.
  bool begins_with_copies_ = true;
  std::vector<std::string> mismatches_;  // of all runs of the last once()
};

}  // namespace lanewise::hw
