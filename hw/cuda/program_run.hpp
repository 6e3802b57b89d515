#pragma once
// A collective laid out as one program for each GPU (hw/program), run as often as wanted: one kernel a GPU, which waits
// for the others by flags in device memory.
#include <vector>

#include "hw/cuda/host_flag.hpp"
#include "hw/cuda/links.hpp"
#include "hw/cuda/program_kernel.hpp"
#include "hw/cuda/release_gate.hpp"
#include "hw/cuda/run.hpp"
#include "hw/cuda/shared_buffers.hpp"
#include "hw/program/program_image.hpp"

namespace lanewise::hw {

class ProgramRun : public Run {
 public:
  // For a plan that why_streams() does not refuse.
  ProgramRun(Plan const& plan, Devices& devices);

  RunTimes once() override;
  [[nodiscard]] std::vector<std::string> mismatches() const override { return shared_.mismatches(); }
  [[nodiscard]] bool began_early() const override { return began_early_; }

 private:
  // What one GPU has of its own.
  struct Lane {
    Device device;
    DeviceMemory flags, image, counters, times, clock;
    ProgramArguments arguments;
    std::uint32_t blocks = 1;
    Stream stream;
    Event begin, end;
  };
  // On a GPU's clock: when its kernel began and ended.
  struct Clock {
    std::uint64_t began = 0, ended = 0;
  };

  [[nodiscard]] Lane lane_on(Device device) const;
  void load(std::vector<lanewise::Buffer> const& buffers);
  void enqueue(Lane& lane);
  void wait() const;
  [[nodiscard]] RunTimes times() const;

  SharedBuffers shared_;
  Links links_;
  DevicePrograms programs_;
  std::size_t steps_;
  HostFlags failed_{1};
  std::vector<Lane> lanes_;
  std::unique_ptr<ReleaseGate> gate_;
  NumaIndex near_;  // of the first GPU: where the thread that enqueues runs
  std::uint32_t epoch_ = 0;
  bool began_early_ = false;
};

}  // namespace lanewise::hw
