// One GPU's LL program: every thread takes its elements through the tasks of its block. All data from other GPUs carry
// the number of the run as their flag, and only this thread reads them.
#include "hw/cuda/kernels/device_code.cuh"
#include "hw/cuda/kernels/ll_kernel.hpp"

namespace lanewise::hw {
namespace {

__device__ uint4 ll_load(std::uint64_t at) {
  uint4 value;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(at)
               : "memory");
  return value;
}
// Links carry 8 bytes as a whole, so each 8-byte half has a flag of its own.
__device__ void ll_store(std::uint64_t at, uint2 value, std::uint32_t epoch) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};"
               :
               : "l"(at), "r"(value.x), "r"(epoch), "r"(value.y)
               : "memory");
}
__device__ bool has_arrived(uint4 value, std::uint32_t epoch) { return value.y == epoch && value.w == epoch; }

// Polls until the data of this run are there. On a timeout it returns data of another run. Not inlined: smaller code is
// fetched faster on the kernel's first run.
__device__ __noinline__ uint4 ll_wait(std::uint64_t at, std::uint32_t epoch, std::uint64_t limit_ns) {
  constexpr int kPollsBetweenClocks = 256;
  std::uint64_t began = 0;
  auto value = ll_load(at);
  for (int polls = 0; !has_arrived(value, epoch); ++polls) {
    value = ll_load(at);
    if (polls % kPollsBetweenClocks != kPollsBetweenClocks - 1) continue;
    auto const now = global_time();
    if (began == 0) began = now;
    if (now - began > limit_ns) break;
  }
  return value;
}

// Adds element i of all inputs. Loads of kInputsInFlight inputs are in flight at a time.
__device__ bool gather(PackedLLTask const& task, std::uint32_t i, LLArguments const& arguments, uint2& sum) {
  constexpr std::uint32_t kInputsInFlight = 8;
  auto const* const inputs = arguments.program.address + task.first_input;
  sum = {};
  for (std::uint32_t first = 0; first < task.inputs; first += kInputsInFlight) {
    uint4 values[kInputsInFlight] = {};
#pragma unroll
    for (std::uint32_t k = 0; k < kInputsInFlight; ++k) {
      if (first + k >= task.inputs) continue;
      auto const input = inputs[first + k];
      if (input & kLLAddressBit) {
        values[k] = ll_load(input - kLLAddressBit + i * sizeof(uint4));
      } else {
        auto const value = *reinterpret_cast<uint2 const*>(input + i * sizeof(uint2));
        values[k] = {value.x, arguments.epoch, value.y, arguments.epoch};
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kInputsInFlight; ++k) {
      if (first + k >= task.inputs) continue;
      if (!has_arrived(values[k], arguments.epoch)) {
        values[k] =
            ll_wait(inputs[first + k] - kLLAddressBit + i * sizeof(uint4), arguments.epoch, arguments.clock.limit_ns);
        if (!has_arrived(values[k], arguments.epoch)) return false;
      }
      sum.x += values[k].x;
      sum.y += values[k].z;
    }
  }
  return true;
}

// Writes element i to all outputs.
__device__ void write_outputs(PackedLLTask const& task, std::uint32_t i, LLArguments const& arguments, uint2 value) {
  auto const* const outputs = arguments.program.address + task.first_output;
  for (std::uint32_t k = 0; k < task.outputs; ++k) {
    auto const output = outputs[k];
    if (output & kLLAddressBit)
      ll_store(output - kLLAddressBit + i * sizeof(uint4), value, arguments.epoch);
    else
      *reinterpret_cast<uint2*>(output + i * sizeof(uint2)) = value;
  }
}

__device__ void record_latest(std::uint64_t& latest) {
  atomicMax(reinterpret_cast<unsigned long long*>(&latest), static_cast<unsigned long long>(global_time()));
}

__global__ void __launch_bounds__(kThreads) ll_kernel(__grid_constant__ LLArguments const arguments) {
  auto const& clock = arguments.clock;
  if (thread_index() == 0) clock.kernel[0] = global_time();
  for (std::uint32_t t = 0; t < arguments.program.tasks; ++t) {
    auto const& task = arguments.program.task[t];
    if (blockIdx.x < task.first_block || blockIdx.x - task.first_block >= task.blocks) continue;
    if (threadIdx.x == 0 && blockIdx.x == task.first_block) clock.tasks[task.id].begin = global_time();
    auto const stride = static_cast<std::uint32_t>(task.blocks) * blockDim.x;
    for (auto i = (blockIdx.x - task.first_block) * blockDim.x + threadIdx.x; i < task.count; i += stride) {
      uint2 sum;
      if (!gather(task, i, arguments, sum)) {
        *clock.failed = 1;
        return;
      }
      write_outputs(task, i, arguments, sum);
    }
    if (threadIdx.x == 0) record_latest(clock.tasks[task.id].end);
  }
  if (threadIdx.x == 0) record_latest(clock.kernel[1]);
}

}  // namespace

std::uint32_t max_resident_ll_blocks(KernelShape shape) {
  int resident = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, ll_kernel, kThreads, 0),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<std::uint32_t>(resident * shape.multiprocessors);
}

void launch_ll(LLArguments const& arguments, std::uint32_t blocks, cudaStream_t stream) {
  ll_kernel<<<blocks, kThreads, 0, stream>>>(arguments);
  launched("LL kernel");
}

}  // namespace lanewise::hw
