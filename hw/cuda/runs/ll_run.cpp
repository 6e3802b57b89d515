#include "hw/cuda/runs/ll_run.hpp"

#include <algorithm>

#include "hw/program/assign_blocks.hpp"

namespace lanewise::hw {

LLRun::LLRun(Plan const& plan, Devices& devices, LLPrograms const& programs)
    : KernelRun(plan, devices, programs.gpus, timed(programs.tasks)) {
  LLAddresses where;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) where.buffers.push_back(address_of(BufferId(i)));
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu) {
    auto const bytes = std::max<std::int64_t>(programs.lines[gpu].value(), 1);
    launches_.push_back(
        {zeros_on(lane(gpu).device, static_cast<std::size_t>(bytes)), {}, blocks_on(programs.tasks, gpu)});
    launches_.back().arguments.clock = clock_of(gpu);
    where.lines.push_back(reinterpret_cast<std::uint64_t>(launches_.back().lines.get()));
  }
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu)
    launches_[gpu].arguments.program = packed(programs, plan, gpu, where);
}

void LLRun::launch(std::size_t gpu, std::uint32_t epoch) {
  auto& launch = launches_[gpu];
  launch.arguments.epoch = epoch;
  launch_ll(launch.arguments, launch.blocks, lane(gpu).stream.get());
}

}  // namespace lanewise::hw
