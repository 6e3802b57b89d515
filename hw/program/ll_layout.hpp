#pragma once
// A GPU's line program as its kernel gets it, among its arguments. Also read by nvcc as C++17, so nothing of core is
// here.
#include <cstddef>
#include <cstdint>

namespace lanewise::hw {

// All arguments of a kernel together stay below the 4 KiB that every CUDA version takes.
inline constexpr std::size_t kMaxLLTasks = 64;
inline constexpr std::size_t kMaxLLAddresses = 256;
// An address with this bit is one of lines; all are multiples of 8.
inline constexpr std::uint64_t kLLAddress = 1;

// `count` 8-byte elements; element i of lines is the i-th 16 bytes.
struct PackedLLTask {
  std::uint32_t count = 0;
  std::uint16_t first_block = 0, blocks = 0;
  std::uint16_t first_input = 0, inputs = 0;  // among the addresses
  std::uint16_t first_output = 0, outputs = 0;
  std::uint32_t id = 0;  // of its times
};
static_assert(sizeof(PackedLLTask) == 20);

struct LLProgram {
  std::uint32_t tasks = 0;
  PackedLLTask task[kMaxLLTasks] = {};
  std::uint64_t address[kMaxLLAddresses] = {};
};

}  // namespace lanewise::hw
