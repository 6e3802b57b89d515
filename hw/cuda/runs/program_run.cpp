#include "hw/cuda/runs/program_run.hpp"

#include <algorithm>

#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/program/assign_blocks.hpp"

namespace lanewise::hw {

ProgramRun::ProgramRun(Plan const& plan, Devices& devices)
    : ProgramRun(plan, devices, lower(plan, max_blocks_per_gpu(plan, devices, max_resident_program_blocks))) {}

ProgramRun::ProgramRun(Plan const& plan, Devices& devices, DevicePrograms const& programs)
    : KernelRun(plan, devices, programs.gpus, timed_tasks(programs.tasks)) {
  load(programs, plan.buffers);
}

void ProgramRun::load(DevicePrograms const& programs, std::vector<Buffer> const& buffers) {
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu) {
    auto const device = this->gpu(gpu).device;
    auto& launch = launches_.emplace_back();
    launch.flags = allocate_zeroed(device, flag_count(programs) * sizeof(std::uint32_t));
    launch.counters = allocate_zeroed(device, programs.tasks.size() * sizeof(std::uint32_t));
  }
  Addresses where;
  for (std::size_t i = 0; i < buffers.size(); ++i) where.buffers.push_back(address_of(BufferId(i)));
  for (auto const& launch : launches_) where.flags.push_back(reinterpret_cast<std::uint64_t>(launch.flags.get()));
  for (std::size_t gpu = 0; gpu < launches_.size(); ++gpu) {
    auto& launch = launches_[gpu];
    auto const image = image_of(programs, buffers, gpu, where);
    launch.image = allocate_zeroed(this->gpu(gpu).device, image.bytes.size());
    check_cuda(cudaMemcpy(launch.image.get(), image.bytes.data(), image.bytes.size(), cudaMemcpyDefault), "cudaMemcpy");
    launch.blocks = blocks_on(programs.tasks, gpu);
    auto& arguments = launch.arguments;
    arguments.image = static_cast<ulonglong2 const*>(launch.image.get());
    arguments.image_bytes = static_cast<std::uint32_t>(image.bytes.size());
    arguments.flags = static_cast<std::uint32_t*>(launch.flags.get());
    arguments.counters = static_cast<std::uint32_t*>(launch.counters.get());
    arguments.clock = clock_of(gpu);
    arguments.arrivals = static_cast<std::uint32_t>(image.arrivals.size());
    std::copy(image.arrivals.begin(), image.arrivals.end(), arguments.arrival);
  }
}

void ProgramRun::launch(std::size_t gpu, std::uint32_t epoch) {
  auto& launch = launches_[gpu];
  launch.arguments.epoch = epoch;
  launch_program(launch.arguments, launch.blocks, this->gpu(gpu).stream.get());
}

}  // namespace lanewise::hw
