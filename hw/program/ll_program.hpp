#pragma once
// A small collective as one program for each GPU, whose steps use NCCL's LL protocol (core/plan/ll_protocol.hpp): data
// travel with a flag beside them into LL memory of the target, which nothing else uses. The flag is the number of the
// run.
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/program/ll_layout.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// What some blocks of one GPU do together, one 8-byte element at a time: they add up all that the task reads and
// receives, and write the sum to its target and to the LL memory of other GPUs.
struct LLTask {
  std::size_t gpu = 0;           // index into LLPrograms::gpus
  std::vector<Region> reads;     // from this GPU's memory
  std::vector<StepId> receives;  // steps whose LL data it takes
  std::optional<Region> writes;  // in this GPU's memory
  std::vector<StepId> sends;     // steps whose LL data it writes
  std::vector<StepId> steps;     // the steps that end with this task
  Bytes bytes{0};                // of each step
  std::uint32_t first_block = 0, blocks = 1;
  friend bool operator==(LLTask const&, LLTask const&) = default;
};

struct LLPrograms {
  std::vector<Place> gpus;
  std::vector<LLTask> tasks;      // no task waits for a later one
  std::vector<Bytes> ll_offsets;  // by step between two GPUs: where its data begin in its target's LL memory
  std::vector<Bytes> ll_bytes;    // by GPU: the size of its LL memory
};

// The LL programs of a plan; nullopt where the protocol does not do: the steps do not use LL, or a GPU would have to
// wait for more than the data that it receives. `max_blocks`: how many blocks of the kernel one GPU holds at a time.
std::optional<LLPrograms> ll_programs(Plan const& plan, Machine const& machine, std::uint32_t max_blocks);

// Device addresses: of each of the plan's buffers (multiples of 8) and of each GPU's LL memory (multiples of 16).
struct LLAddresses {
  std::vector<std::uint64_t> buffers;
  std::vector<std::uint64_t> ll_memory;
};
// The program of one GPU, as its kernel takes it.
LLProgram pack(LLPrograms const& programs, Plan const& plan, std::size_t gpu, LLAddresses const& addresses);

}  // namespace lanewise::hw
