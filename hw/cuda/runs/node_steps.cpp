#include "hw/cuda/runs/node_steps.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/kernels/limits.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/runtime/driver_entry.hpp"
#include "hw/memory/pattern.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// How many steps are enqueued ahead, in all and in one stream. A call that enqueues waits once a hardware queue holds
// about a thousand commands, and a step is a few of them; nothing would go on while it waits.
constexpr std::size_t kMaxAhead = 512;
constexpr std::size_t kMaxAheadInStream = 64;

// The node's machine as this process sees its GPUs: where nodes share a host, their order tells them, not addresses.
Machine machine_here(Machine machine, std::optional<int> first_gpu) {
  if (first_gpu)
    for (auto& function : machine.functions) function.bdf.clear();
  return machine;
}

}  // namespace

NodeGpuSteps::NodeGpuSteps(DeviceWork work, std::optional<int> first_gpu)
    : work_(std::move(work)),
      model_(machine_here(work_.steps.machine, first_gpu)),
      devices_(open_devices(model_.machine(), first_gpu.value_or(0))),
      wait_value_(driver_entry("cuStreamWaitValue32")),
      write_value_(driver_entry("cuStreamWriteValue32")) {
  auto const& plan = work_.steps.plan;
  std::vector<void*> memory;
  for (auto* const buffer : work_.buffers) memory.push_back(buffer->data());
  if (!plan.buffers.empty()) shared_.emplace(plan, *devices_, memory);
  links_.emplace(plan.steps, *devices_);
  flags_.emplace(1 + 2 * steps().size());
  std::vector<int> device_of_step;
  for (std::size_t i = 0; i < steps().size(); ++i) {
    auto& built = run_steps_.emplace_back();
    built.prepared = build_step(steps()[i], model_, *devices_, shared_ ? &*shared_ : nullptr);
    if (has_own_memory(StepId(i))) built.prepared.source->fill(seed_of(i));
    device_of_step.push_back(ordinal(built.prepared.move->device()));
  }
  create_streams(device_of_step);
}

NodeGpuSteps::~NodeGpuSteps() {
  // What is enqueued must end before the memory that it uses is freed.
  for (std::size_t word = 0; word < 1 + steps().size(); ++word) flags_->store(word, epoch_);
  for (auto const& stream : streams_) cudaStreamSynchronize(stream.get());
  cudaGetLastError();
}

// A step that waits for something else gets a stream of its own as long as there are some: what follows it in a stream
// would wait as well.
void NodeGpuSteps::create_streams(std::vector<int> const& device_of_step) {
  stream_steps_ = stream_steps(steps(), model_, device_of_step);
  for (std::size_t i = 0; i < stream_steps_.size(); ++i)
    if (work_.waits_outside[i]) stream_steps_[i].serial_peer_engine.reset();
  assignment_ = assign_streams(stream_steps_, work_.order);
  for (auto const device : assignment_.device_of_stream) streams_.push_back(make_stream(Device(device)));
  for (std::size_t i = 0; i < run_steps_.size(); ++i)
    if (assignment_.steps[i].is_awaited) run_steps_[i].end = make_order_event(Device(device_of_step[i]));
}

bool NodeGpuSteps::has_own_memory(StepId id) const {
  auto const& step = steps()[index(id)];
  return !step.reads && step.work == Seconds(0);
}

void NodeGpuSteps::prepare() {
  ++epoch_;
  next_ = 0;
  under_way_.clear();
  in_stream_.assign(streams_.size(), 0);
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    auto& step = run_steps_[i].prepared;
    if (has_own_memory(StepId(i)) && step.target) step.target->clear();
    step.move->prepare();
  }
  links_->wake();
  enqueue_more();
}

void NodeGpuSteps::enqueue_more() {
  for (; next_ < work_.order.size(); ++next_) {
    auto const id = work_.order[next_];
    auto& in_stream = in_stream_[assignment_.steps[index(id)].stream];
    if (under_way_.size() >= kMaxAhead || in_stream >= kMaxAheadInStream) return;
    try {
      enqueue(id);
    } catch (DeviceError const& error) {
      throw DeviceError(fmt::format("step '{}'", steps()[index(id)].transfer), error);
    }
    ++in_stream;
    under_way_.push_back(id);
  }
}

void NodeGpuSteps::enqueue(StepId id) {
  auto const& step = run_steps_[index(id)];
  auto const& assigned = assignment_.steps[index(id)];
  auto* const stream = streams_[assigned.stream].get();
  DeviceGuard const guard(step.prepared.move->device());
  if (work_.waits_outside[index(id)])
    wait_for_word(go(id), stream);
  else if (stream_steps_[index(id)].waits_for.empty())
    wait_for_word(kStart, stream);
  for (auto const before : assigned.awaited_events)
    check_cuda(cudaStreamWaitEvent(stream, run_steps_[index(before)].end.get(), 0), "cudaStreamWaitEvent");
  step.prepared.move->enqueue(stream);
  if (assigned.is_awaited) check_cuda(cudaEventRecord(step.end.get(), stream), "cudaEventRecord");
  write_word(done(id), stream);
}

void NodeGpuSteps::wait_for_word(std::size_t word, cudaStream_t stream) const {
  auto* const wait_value = reinterpret_cast<decltype(&cuStreamWaitValue32)>(wait_value_);
  auto const address = reinterpret_cast<CUdeviceptr>(flags_->word(word));
  if (wait_value == nullptr || wait_value(stream, address, epoch_, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
    launch_gate(flags_->word(word), epoch_, kWaitLimit.count(), stream);
}

void NodeGpuSteps::write_word(std::size_t word, cudaStream_t stream) const {
  auto* const write_value = reinterpret_cast<decltype(&cuStreamWriteValue32)>(write_value_);
  auto const address = reinterpret_cast<CUdeviceptr>(flags_->word(word));
  if (write_value == nullptr || write_value(stream, address, epoch_, CU_STREAM_WRITE_VALUE_DEFAULT) != CUDA_SUCCESS)
    launch_signal(flags_->word(word), epoch_, stream);
}

void NodeGpuSteps::poll(std::vector<StepId>& ended) {
  auto const left = std::stable_partition(under_way_.begin(), under_way_.end(),
                                          [this](StepId id) { return flags_->load(done(id)) != epoch_; });
  if (left == under_way_.end()) return;
  for (auto found = left; found != under_way_.end(); ++found) {
    --in_stream_[assignment_.steps[index(*found)].stream];
    run_steps_[index(*found)].prepared.move->rethrow();
    ended.push_back(*found);
  }
  under_way_.erase(left, under_way_.end());
  enqueue_more();
}

void NodeGpuSteps::check() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    auto const state = cudaStreamQuery(streams_[i].get());
    if (state == cudaSuccess) continue;
    cudaGetLastError();  // clears 'not ready', which is no error
    if (state == cudaErrorNotReady) continue;
    auto const step = std::find_if(under_way_.begin(), under_way_.end(),
                                   [&](StepId id) { return assignment_.steps[index(id)].stream == i; });
    auto const where = step == under_way_.end() ? "a GPU's steps" : "step '" + steps()[index(*step)].transfer + "'";
    throw DeviceError(where, static_cast<int>(state), cudaGetErrorString(state));
  }
}

std::vector<std::string> NodeGpuSteps::mismatches() const {
  std::vector<std::string> by_step(run_steps_.size());
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    if (!has_own_memory(StepId(i))) continue;
    if (auto const wrong = run_steps_[i].prepared.arrived().mismatch(seed_of(i))) by_step[i] = text_of(*wrong);
  }
  return by_step;
}

std::unique_ptr<DeviceSteps> make_device_steps(DeviceWork work, std::optional<int> first_gpu) {
  return std::make_unique<NodeGpuSteps>(std::move(work), first_gpu);
}

}  // namespace lanewise::hw
