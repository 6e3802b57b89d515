#pragma once
// One plan laid out on real devices: buffers, moves, streams and events, run as often as wanted.
#include <map>
#include <vector>

#include "hw/cuda/move.hpp"
#include "hw/cuda/release_gate.hpp"

namespace lanewise::hw {

// Of one run; times from the common release.
struct StepTimes {
  Seconds start{0};
  Seconds end{0};
};

class PlanRun {
 public:
  // Throws PlanError or MissingError naming the step that cannot be laid.
  PlanRun(std::vector<Step> steps, Model const& model, Devices& devices);

  // Clears the targets, enqueues everything behind the gate, opens it and waits. Throws DeviceError naming the step.
  std::vector<StepTimes> once();
  // The only step `count` times back to back in its stream, timed from before the first to after the last.
  Seconds row(int count);
  // The first wrong byte of a step's target; checked on the device.
  [[nodiscard]] std::optional<Mismatch> mismatch(StepId step) const;
  // Whether a run had to begin before everything was enqueued, because the driver made the host wait.
  [[nodiscard]] bool began_early() const { return began_early_; }

 private:
  struct Laid {
    LaidStep step;
    std::vector<StepId> waits_for;  // what it needs, and what it leaves the way to
    cudaStream_t stream = nullptr;
    std::optional<StepId> continues;  // the step before it in its stream, whose end is its start
    Event start, end;                 // no start where it continues another and waits for nothing else
  };
  // Streams of one device, and which of them no later step has taken over yet.
  struct Lanes {
    std::vector<Stream> streams;
    std::size_t next = 0;
  };

  void set_peer_access(Model const& model, Devices& devices);
  void assign_streams();
  [[nodiscard]] cudaStream_t fresh_stream(Device device);
  void prepare();
  void wake_links();
  // Every step `rounds` times in a row.
  void run(int rounds);
  void enqueue(StepId id, int rounds);
  void enqueue_all(int rounds);
  void wait();
  [[nodiscard]] std::vector<StepTimes> times() const;

  std::vector<Step> steps_;
  std::vector<StepId> order_;
  std::vector<Laid> laid_;
  std::map<Device, Lanes> lanes_;
  std::vector<std::pair<Device, Device>> awake_;  // with peer access, between which traffic passes before a run
  std::map<Device, DeviceMemory> wake_memory_;    // what is in it does not matter
  std::unique_ptr<ReleaseGate> gate_;
  NumaIndex near_;  // of the first GPU: where the thread that enqueues runs
  bool began_early_ = false;
};

}  // namespace lanewise::hw
