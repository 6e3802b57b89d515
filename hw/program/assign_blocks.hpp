#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lanewise::hw {

// Tasks of one GPU and level run side by side, each on blocks of its own, as many as it has work for: `fed` bytes a
// block. `levels[i]`: how many tasks must have ended before the i-th, one after another.
template <class Task>
void assign_blocks(std::vector<Task>& tasks, std::vector<std::size_t> const& levels, std::uint32_t max_blocks,
                   std::int64_t fed) {
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> width;
  for (std::size_t i = 0; i < tasks.size(); ++i) ++width[{tasks[i].gpu, levels[i]}];
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> taken;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto& task = tasks[i];
    std::pair const place{task.gpu, levels[i]};
    auto const share = std::max(max_blocks / width[place], 1U);
    auto const wanted = (task.bytes.value() + fed - 1) / fed;
    task.blocks = static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 1, share));
    task.first_block = taken[place] % max_blocks;
    taken[place] += task.blocks;
  }
}

// Of the kernel on a GPU.
template <class Task>
std::uint32_t blocks_on(std::vector<Task> const& tasks, std::size_t gpu) {
  std::uint32_t blocks = 1;
  for (auto const& task : tasks)
    if (task.gpu == gpu) blocks = std::max(blocks, task.first_block + task.blocks);
  return blocks;
}

}  // namespace lanewise::hw
