#pragma once
// A GPU's LL program as its kernel gets it, among its arguments. nvcc compiles this as C++17, so it includes nothing of
// core.
#include <cstddef>
#include <cstdint>

namespace lanewise::hw {

// With these limits a kernel's arguments stay below 4 KiB, which every CUDA version accepts.
inline constexpr std::size_t kMaxLLTasks = 64;
inline constexpr std::size_t kMaxLLAddresses = 256;
// Marks an address in LL memory; addresses are multiples of 8, so their lowest bit is free.
inline constexpr std::uint64_t kLLAddressBit = 1;

// A task of `count` elements of 8 bytes. In LL memory an element takes 16 bytes: two words of data with a flag each.
struct PackedLLTask {
  std::uint32_t count = 0;
  std::uint16_t first_block = 0, blocks = 0;
  std::uint16_t first_input = 0, inputs = 0;  // indices into LLProgram::address
  std::uint16_t first_output = 0, outputs = 0;
  std::uint32_t id = 0;  // index of its times
};
static_assert(sizeof(PackedLLTask) == 20);

struct LLProgram {
  std::uint32_t tasks = 0;
  PackedLLTask task[kMaxLLTasks] = {};
  std::uint64_t address[kMaxLLAddresses] = {};
};

}  // namespace lanewise::hw
