#pragma once
// A GPU's program as its kernel reads it, in one block of memory: header, tasks, addresses, flag numbers. nvcc compiles
// this as C++17, so it includes nothing of core.
#include <cstddef>
#include <cstdint>

namespace lanewise::hw {

// A GPU signals its arrival to at most this many others: the flags' addresses are among the kernel's arguments.
inline constexpr std::size_t kMaxProgramGpus = 32;
// Every block keeps the program in shared memory. 48 KiB are available without opting in.
inline constexpr std::size_t kMaxProgramBytes = std::size_t{48} << 10;

// `count` entries of a list, from entry `first` on.
struct Range {
  std::uint32_t first = 0, count = 0;
};

struct ProgramHeader {
  Range leaves;  // flag numbers: tasks of other GPUs in this GPU's memory, which must end before the kernel does
  std::uint32_t tasks = 0;
  std::uint32_t addresses = 0;
};

struct PackedTask {
  std::uint64_t target = 0;
  std::uint64_t bytes = 0;
  Range sources;  // addresses
  Range signals;  // addresses of flags to set, on this GPU and others
  Range waits;    // numbers of this GPU's flags to wait for
  std::uint32_t first_block = 0, blocks = 0;
  std::uint32_t id = 0;  // number of its flag on every GPU, of its counter and of its times
  std::uint32_t unused = 0;
};
static_assert(sizeof(ProgramHeader) == 16 && sizeof(PackedTask) == 56);

}  // namespace lanewise::hw
