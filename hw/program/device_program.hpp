#pragma once
// A collective's steps as one program for each GPU, which a single kernel launch runs from beginning to end. Its blocks
// read and write the memory of other GPUs and wait for one another by flags in device memory, so neither the host nor
// an event stands between steps.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// What some blocks of one GPU do together: they write the sum of all sources to the target, or copy the only source.
// Several steps that add to one target in turn are a single task, which reads and writes the target once.
struct Task {
  std::size_t gpu = 0;  // index into DevicePrograms::gpus
  std::vector<StepId> steps;
  Region target;
  std::vector<Region> sources;  // includes the target where it is added to
  Bytes bytes{0};
  std::vector<std::size_t> waits;  // tasks that must have ended before, on any GPU
  std::uint32_t first_block = 0, blocks = 1;
  friend bool operator==(Task const&, Task const&) = default;
};

struct DevicePrograms {
  std::vector<Place> gpus;
  // No task waits for a later one. Every block goes through its GPU's tasks in this order, so blocks that are all
  // resident cannot wait for one another in a circle.
  std::vector<Task> tasks;

  // The other GPUs whose memory the task touches.
  [[nodiscard]] std::vector<std::size_t> reached_by(Task const& task, std::vector<Buffer> const& buffers) const;
};

// Why this plan must be run by streams and events; nullopt where programs run it. Programs can run plans in which every
// step is a load, a store or an addition within a GPU or between GPUs with peer access.
std::optional<std::string> why_streams(Plan const& plan, Machine const& machine);

// The programs of a plan for which why_streams() is nullopt. `max_blocks`: how many blocks one GPU holds at a time.
DevicePrograms lower(Plan const& plan, std::uint32_t max_blocks);

}  // namespace lanewise::hw
