#include "hw/cuda/runs/ll_run.hpp"

#include <algorithm>

#include "hw/program/assign_blocks.hpp"

namespace lanewise::hw {

LLRun::LLRun(Plan const& plan, Devices& devices, LLPrograms const& programs)
    : KernelRun(plan, devices, programs.gpus, timed_tasks(programs.tasks)) {
  LLAddresses where;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) where.buffers.push_back(address_of(BufferId(i)));
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu) {
    auto const bytes = std::max<std::int64_t>(programs.ll_bytes[gpu].value(), 1);
    launches_.push_back(
        {allocate_zeroed(this->gpu(gpu).device, static_cast<std::size_t>(bytes)), {}, blocks_on(programs.tasks, gpu)});
    launches_.back().arguments.clock = clock_of(gpu);
    where.ll_memory.push_back(reinterpret_cast<std::uint64_t>(launches_.back().ll_memory.get()));
  }
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu)
    launches_[gpu].arguments.program = pack(programs, plan, gpu, where);
}

void LLRun::launch(std::size_t gpu, std::uint32_t epoch) {
  auto& launch = launches_[gpu];
  launch.arguments.epoch = epoch;
  launch_ll(launch.arguments, launch.blocks, this->gpu(gpu).stream.get());
}

}  // namespace lanewise::hw
