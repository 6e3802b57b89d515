#pragma once
// A small collective as one program for each GPU whose steps travel in lines (core/plan/ll_protocol.hpp), into memory
// of the target that nothing else uses; the flag beside the data is the number of the run.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/plan.hpp"
#include "hw/program/ll_layout.hpp"

namespace lanewise::hw {

// What some blocks of one GPU do together, 8 bytes at a time: the sum of all that it reads and receives goes to its
// target and to others.
struct LLTask {
  std::size_t gpu = 0;           // of the programs' list
  std::vector<Region> reads;     // this GPU's memory
  std::vector<StepId> receives;  // lines of these steps
  std::optional<Region> writes;  // this GPU's memory
  std::vector<StepId> sends;     // as lines of these steps
  std::vector<StepId> steps;     // that end with it
  Bytes bytes{0};                // of each of them
  std::uint32_t first_block = 0, blocks = 1;
  friend bool operator==(LLTask const&, LLTask const&) = default;
};

struct LLPrograms {
  std::vector<Place> gpus;
  std::vector<LLTask> tasks;      // in an order in which none waits for a later one
  std::vector<Bytes> ll_offsets;  // of each step that crosses: where its lines begin in its target's line memory
  std::vector<Bytes> lines;       // of each GPU: its line memory
};

// Nullopt where they would not do: the steps do not travel in lines, or a GPU would have to wait for more than the
// lines that it receives.
std::optional<LLPrograms> ll_programs(Plan const& plan, Machine const& machine, std::uint32_t max_blocks);

// Where things are: of each of the plan's buffers, and of each GPU's line memory; multiples of 8 and 16.
struct LLAddresses {
  std::vector<std::uint64_t> buffers;
  std::vector<std::uint64_t> lines;
};
LLProgram packed(LLPrograms const& programs, Plan const& plan, std::size_t gpu, LLAddresses const& addresses);

}  // namespace lanewise::hw
