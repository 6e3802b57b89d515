#pragma once
// A GPU's program as its kernel reads it, in one block of memory: the header, the tasks, addresses, flag numbers. Also
// read by nvcc as C++17, so nothing of core is here.
#include <cstddef>
#include <cstdint>

namespace lanewise::hw {

// How many GPUs can signal their arrival by addresses among the kernel's arguments.
inline constexpr std::size_t kMaxProgramGpus = 32;
// Every block keeps the program in its multiprocessor's shared memory: the 48 KiB that need not be asked for.
inline constexpr std::size_t kMaxProgramBytes = std::size_t{48} << 10;

// Where a list begins, and how long it is.
struct Range {
  std::uint32_t first = 0, count = 0;
};

struct ProgramHeader {
  Range leaves;  // flag numbers: others' tasks that touch this GPU's memory, which must end before the kernel does
  std::uint32_t tasks = 0;
  std::uint32_t addresses = 0;
};

struct PackedTask {
  std::uint64_t target = 0;
  std::uint64_t bytes = 0;
  Range sources;  // addresses
  Range signals;  // addresses of flags, on this GPU and others
  Range waits;    // numbers of this GPU's flags
  std::uint32_t first_block = 0, blocks = 0;
  std::uint32_t id = 0;  // of its flag everywhere, its counter and its times
  std::uint32_t unused = 0;
};
static_assert(sizeof(ProgramHeader) == 16 && sizeof(PackedTask) == 56);

}  // namespace lanewise::hw
