#pragma once
// A collective's steps as one program for each GPU, which a single kernel launch runs from beginning to end: its blocks
// read and write the memory of other GPUs themselves, and wait for one another by flags in device memory. No host and
// no event stands between steps.
#include <optional>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace lanewise::hw {

// What some blocks of one GPU do together: the sum of all sources into the target, or a copy of the only one. Several
// steps that add to one target, one after the other, are a single task: it reads and writes the target once.
struct Task {
  std::size_t gpu = 0;  // of the programs' list
  std::vector<StepId> steps;
  Region target;
  std::vector<Region> sources;  // the target too, where it is added to
  Bytes bytes{0};
  std::vector<std::size_t> waits;  // tasks that must have ended, on whichever GPU
  std::uint32_t first_block = 0, blocks = 1;
  friend bool operator==(Task const&, Task const&) = default;
};

struct DevicePrograms {
  std::vector<Place> gpus;
  // In an order in which no task waits for a later one. Every block goes through its GPU's tasks in this order, so
  // blocks that are all resident cannot wait for one another in a circle.
  std::vector<Task> tasks;

  // GPUs other than the task's own whose memory it touches.
  [[nodiscard]] std::vector<std::size_t> reached_by(Task const& task, std::vector<Buffer> const& buffers) const;
};

// Why this plan is better done, or can only be done, by streams and events; nullopt: by programs. Programs are for
// plans whose every step is a load, store or addition within a GPU or between GPUs that reach one another.
std::optional<std::string> why_streams(Plan const& plan, Machine const& machine);

// `max_blocks`: that one GPU holds at a time. The plan must be one that why_streams() does not refuse.
DevicePrograms lower(Plan const& plan, std::uint32_t max_blocks);

}  // namespace lanewise::hw
