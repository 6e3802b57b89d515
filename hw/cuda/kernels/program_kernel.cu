// One GPU's program: every block goes through the tasks in order and does its slice of those that it takes part in.
#include "hw/cuda/kernels/device_code.cuh"
#include "hw/cuda/kernels/program_kernel.hpp"

namespace lanewise::hw {
namespace {

constexpr int kResidentBlocks = 2;  // per multiprocessor: leaves each thread 64 registers for loads in flight

struct Program {
  ProgramHeader const* header;
  PackedTask const* tasks;
  std::uint64_t const* addresses;
  std::uint32_t const* flags;
};

__device__ Program program_in(void const* image) {
  auto const* const header = static_cast<ProgramHeader const*>(image);
  auto const* const tasks = reinterpret_cast<PackedTask const*>(header + 1);
  auto const* const addresses = reinterpret_cast<std::uint64_t const*>(tasks + header->tasks);
  return {header, tasks, addresses, reinterpret_cast<std::uint32_t const*>(addresses + header->addresses)};
}

// Everything that this thread has seen so far (its own writes, and others' before a barrier) becomes visible to every
// thread that sees the flag set afterwards.
__device__ void publish() { __threadfence_system(); }
__device__ void set_flag(std::uint64_t flag, std::uint32_t epoch) {
  asm volatile("st.relaxed.sys.u32 [%0], %1;" : : "l"(flag), "r"(epoch) : "memory");
}
__device__ std::uint32_t acquire_flag(std::uint32_t const* flag) {
  std::uint32_t value = 0;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

// Epochs only grow and wrap after 2^32 runs: the difference says which came first.
__device__ bool reached(std::uint32_t const* flag, ProgramArguments const& arguments) {
  constexpr int kPollsBetweenClocks = 256;
  std::uint64_t began = 0;
  for (int polls = 0; static_cast<std::int32_t>(acquire_flag(flag) - arguments.epoch) < 0; ++polls) {
    if (polls % kPollsBetweenClocks != kPollsBetweenClocks - 1) continue;
    auto const now = global_time();
    if (began == 0) began = now;
    if (now - began > arguments.clock.limit_ns) return false;
  }
  return true;
}

// Waits for all of these flags, one thread for each flag. False when one did not reach this run's epoch in time.
__device__ bool wait_for(std::uint32_t const* numbers, std::uint32_t count, ProgramArguments const& arguments) {
  bool in_time = true;
  for (auto i = threadIdx.x; i < count; i += blockDim.x)
    in_time = reached(arguments.flags + numbers[i], arguments) && in_time;
  return __syncthreads_and(in_time) != 0;
}

__device__ void do_slice(PackedTask const& task, std::uint64_t const* sources) {
  WorkSlice const slice{(blockIdx.x - task.first_block) * blockDim.x + threadIdx.x, task.blocks * blockDim.x};
  auto* const target = reinterpret_cast<void*>(task.target);
  if (task.sources.count == 1)
    copy_slice(target, reinterpret_cast<void const*>(sources[0]), task.bytes, slice);
  else
    add_slice(target, sources, task.sources.count, task.bytes, slice);
}

// The last block of a task to get here sets the flags of all GPUs that wait for the task.
__device__ void end_task(PackedTask const& task, std::uint64_t const* signals, ProgramArguments const& arguments) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  publish();
  if (task.blocks > 1) {
    if (atomicInc(arguments.counters + task.id, task.blocks - 1) != task.blocks - 1) return;
    publish();
  }
  for (std::uint32_t i = 0; i < task.signals.count; ++i) set_flag(signals[i], arguments.epoch);
  arguments.clock.tasks[task.id].end = global_time();
}

__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    program_kernel(__grid_constant__ ProgramArguments const arguments) {
  extern __shared__ ulonglong2 image[];
  if (thread_index() == 0) arguments.clock.kernel[0] = global_time();
  // Earlier work on this GPU has ended, or this kernel would not run: other GPUs may touch its memory from now on.
  if (blockIdx.x == 0 && threadIdx.x < arguments.arrivals) {
    publish();
    set_flag(arguments.arrival[threadIdx.x], arguments.epoch);
  }
  for (auto i = threadIdx.x; i < arguments.image_bytes / sizeof(ulonglong2); i += blockDim.x)
    image[i] = arguments.image[i];
  __syncthreads();
  auto const program = program_in(image);
  for (std::uint32_t t = 0; t < program.header->tasks; ++t) {
    auto const& task = program.tasks[t];
    if (blockIdx.x < task.first_block || blockIdx.x - task.first_block >= task.blocks) continue;
    if (!wait_for(program.flags + task.waits.first, task.waits.count, arguments)) {
      *arguments.clock.failed = 1;
      return;
    }
    if (threadIdx.x == 0 && blockIdx.x == task.first_block) arguments.clock.tasks[task.id].begin = global_time();
    do_slice(task, program.addresses + task.sources.first);
    end_task(task, program.addresses + task.signals.first, arguments);
  }
  // The kernel ends only when other GPUs have left this GPU's memory.
  auto const leaves = program.header->leaves;
  if (blockIdx.x != 0) return;
  if (!wait_for(program.flags + leaves.first, leaves.count, arguments)) *arguments.clock.failed = 1;
  if (threadIdx.x == 0) arguments.clock.kernel[1] = global_time();
}

}  // namespace

std::uint32_t max_resident_program_blocks(KernelShape shape) {
  int resident = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, program_kernel, kThreads, kMaxProgramBytes),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(resident * shape.multiprocessors);
}

void launch_program(ProgramArguments const& arguments, std::uint32_t blocks, cudaStream_t stream) {
  program_kernel<<<blocks, kThreads, arguments.image_bytes, stream>>>(arguments);
  launched("program kernel");
}

}  // namespace lanewise::hw
