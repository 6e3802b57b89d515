#pragma once
// A plan laid out by streams: buffers, moves, streams and events.
#include <map>
#include <vector>

#include "hw/cuda/memory/shared_buffers.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/moves/move.hpp"
#include "hw/cuda/runs/run.hpp"
#include "hw/cuda/timing/release_gate.hpp"

namespace lanewise::hw {

class PlanRun : public Run {
 public:
  // Throws PlanError or MissingError naming the step that cannot be laid. `plan` outlives this.
  PlanRun(Plan const& plan, Model const& model, Devices& devices);

  // Clears the targets, enqueues everything behind the gate, opens it and waits. Where steps follow one another in a
  // stream it does so twice: the steps' times are from a run that times each, the makespan from one that does not, as a
  // time between two copies costs 3 us of an H200's engine. Throws DeviceError naming the step.
  RunTimes once() override;
  // The only step `count` times back to back in its stream, timed from before the first to after the last.
  Seconds row(int count);
  [[nodiscard]] std::vector<std::string> mismatches() const override;
  [[nodiscard]] bool began_early() const override { return began_early_; }

 private:
  struct Laid {
    PreparedStep step;
    std::vector<StepId> waits_for;  // what it needs, and what it leaves the way to
    cudaStream_t stream = nullptr;
    std::optional<StepId> continues;  // the step before it in its stream, whose end is its start
    Event start, end;                 // no start where it continues another and waits for nothing else
    bool ends_stream = true;          // nothing follows in its stream
    bool is_awaited = false;          // by a step in another stream
  };
  // What is timed: every step, or where streams begin and end.
  enum class Timed : std::uint8_t { Steps, Streams };
  // Streams of one device, and which of them no later step has taken over yet.
  struct Lanes {
    std::vector<Stream> streams;
    std::size_t next = 0;
  };

  // Of a device on which nothing begins with the plan: when it would have.
  struct Mark {
    Stream stream;
    Event opened;
  };

  void assign_streams(Model const& model);
  void mark_idle_devices();
  [[nodiscard]] cudaStream_t fresh_stream(Device device);
  void prepare();
  // Every step `rounds` times in a row.
  void run(int rounds, Timed timed = Timed::Steps);
  void enqueue(StepId id, int rounds, Timed timed);
  void enqueue_all(int rounds, Timed timed);
  void wait();
  [[nodiscard]] std::vector<std::string> wrong_now() const;
  // When the first of a device's streams let go, on that device's clock.
  [[nodiscard]] std::map<Device, Seconds> openings() const;
  [[nodiscard]] std::vector<StepTimes> times() const;
  // After a run of which streams were timed.
  [[nodiscard]] Seconds last_end() const;

  std::vector<Step> const& steps_;
  std::optional<SharedBuffers> shared_;  // of a collective
  Links links_;
  std::vector<StepId> order_;
  std::vector<Laid> laid_;
  std::map<Device, Lanes> lanes_;
  std::map<Device, Mark> marks_;
  std::unique_ptr<ReleaseGate> gate_;
  NumaIndex near_;  // of the first GPU: where the thread that enqueues runs
  bool began_early_ = false;
  bool has_steps_in_a_row_ = false;  // in a stream
  // Every step that waits for nothing is a copy engine's. The gate for those opens 8 us later than the one for all
  // else, so where both begin together all take the other gate; behind that an engine starts 4 us later.
  bool begins_with_copies_ = true;
  std::vector<std::string> wrong_;  // in any run of the last `once`
};

}  // namespace lanewise::hw
