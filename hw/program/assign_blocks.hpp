#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lanewise::hw {

// Gives every task its blocks. Tasks of one GPU and level run side by side on blocks of their own, one block for each
// `bytes_per_block` of work but no more than the task's share of `max_blocks`. levels[i]: the length of the longest
// chain of tasks before task i.
template <class Task>
void assign_blocks(std::vector<Task>& tasks, std::vector<std::size_t> const& levels, std::uint32_t max_blocks,
                   std::int64_t bytes_per_block) {
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> width;
  for (std::size_t i = 0; i < tasks.size(); ++i) ++width[{tasks[i].gpu, levels[i]}];
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> taken;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto& task = tasks[i];
    std::pair const place{task.gpu, levels[i]};
    auto const share = std::max(max_blocks / width[place], 1U);
    auto const wanted = (task.bytes.value() + bytes_per_block - 1) / bytes_per_block;
    task.blocks = static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 1, share));
    task.first_block = taken[place] % max_blocks;
    taken[place] += task.blocks;
  }
}

// How many blocks the kernel of a GPU has.
template <class Task>
std::uint32_t blocks_on(std::vector<Task> const& tasks, std::size_t gpu) {
  std::uint32_t blocks = 1;
  for (auto const& task : tasks)
    if (task.gpu == gpu) blocks = std::max(blocks, task.first_block + task.blocks);
  return blocks;
}

}  // namespace lanewise::hw
