#include "hw/cuda/runs/node_steps.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/runtime/driver_entry.hpp"
#include "hw/memory/pattern.hpp"
#include "hw/program/plan_check.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// How many steps are enqueued ahead, and how many commands in one stream. A call that enqueues waits once a hardware
// queue holds about a thousand commands, and nothing would go on while it waits.
constexpr std::size_t kMaxAhead = 512;
constexpr std::size_t kMaxCommandsInStream = 256;
// Streams for steps: the rest of the hardware's queues is for the copies of messages, which must not wait behind a
// step.
constexpr std::size_t kMaxStreams = 16;
// What waits for the host waits as long as the run does, which has a limit of its own.
constexpr std::chrono::nanoseconds kNoLimit = std::chrono::hours(24);

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
      drives_(model_.machine(), work_.drives),
      wait_value_(driver_entry("cuStreamWaitValue32")),
      write_value_(driver_entry("cuStreamWriteValue32")) {
  auto const& plan = work_.steps.plan;
  std::vector<void*> memory;
  for (auto* const buffer : work_.buffers) memory.push_back(buffer->data());
  if (!plan.buffers.empty()) shared_.emplace(plan, *devices_, memory);
  links_.emplace(plan.steps, *devices_);
  plan_drives_.emplace(plan.steps, model_.machine(), drives_);
  if (auto const staged = drives_.not_direct(plan.steps); !staged.empty())
    throw PlanError(fmt::format("{}: {}; say `mechanism: storage_staged`", staged, kInCompatibilityMode));
  flags_.emplace(1 + 2 * steps().size());
  std::vector<int> device_of_step;
  for (std::size_t i = 0; i < steps().size(); ++i) {
    auto& built = run_steps_.emplace_back();
    built.prepared = build_step(steps()[i], model_, *devices_, shared_ ? &*shared_ : nullptr, plan_drives_->of(i));
    device_of_step.push_back(ordinal(built.prepared.move->device()));
  }
  plan_drives_->remove_names();  // before they are filled, which takes a while
  for (std::size_t i = 0; i < steps().size(); ++i)
    if (has_own_memory(steps()[i])) run_steps_[i].prepared.fill(seed_of(i));
  create_streams(device_of_step);
  for (auto const device : devices_->all()) {
    int ordering = 0;
    LANEWISE_CUDA(cudaDeviceGetAttribute(&ordering, cudaDevAttrGPUDirectRDMAWritesOrdering, ordinal(device)));
    if (ordering == cudaGPUDirectRDMAWritesOrderingNone) unordered_.push_back(device);
  }
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
  assignment_ = assign_streams(stream_steps_, work_.order, kMaxStreams);
  for (auto const device : assignment_.device_of_stream) streams_.push_back(make_stream(Device(device)));
  for (std::size_t i = 0; i < run_steps_.size(); ++i)
    if (assignment_.steps[i].is_awaited) run_steps_[i].end = make_order_event(Device(device_of_step[i]));
}

void NodeGpuSteps::prepare() {
  ++epoch_;
  next_ = 0;
  under_way_.clear();
  in_stream_.assign(streams_.size(), 0);
  released_.assign(steps().size(), false);
  ended_.assign(steps().size(), false);
  for (std::size_t i = 0; i < run_steps_.size(); ++i) {
    auto& step = run_steps_[i].prepared;
    if (has_own_memory(steps()[i])) step.clear();
    step.move->prepare();
  }
  links_->wake();
  enqueue_more();
}

void NodeGpuSteps::start() {
  flags_->store(kStart, epoch_);
  for (std::size_t i = 0; i < steps().size(); ++i)
    if (!work_.waits_outside[i]) released_[i] = true;
  enqueue_more();
}

void NodeGpuSteps::release(StepId step) {
  flush_writes_of_nics();
  flags_->store(go(step), epoch_);
  released_[index(step)] = true;
  enqueue_more();
}

// GPUs before Hopper order what a NIC has written only after a flush.
void NodeGpuSteps::flush_writes_of_nics() const {
  for (auto const device : unordered_) {
    DeviceGuard const guard(device);
    if (cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                           cudaFlushGPUDirectRDMAWritesToOwner) != cudaSuccess)
      cudaGetLastError();  // not supported: the device has no NIC that reaches it
  }
}

// A step of more commands than a queue holds is enqueued when it begins at once.
bool NodeGpuSteps::may_enqueue(StepId id) const {
  if (under_way_.size() >= kMaxAhead) return false;
  auto const commands = run_steps_[index(id)].prepared.move->commands();
  if (in_stream_[assignment_.steps[index(id)].stream] + commands <= kMaxCommandsInStream) return true;
  auto const& waits_for = stream_steps_[index(id)].waits_for;
  return in_stream_[assignment_.steps[index(id)].stream] == 0 && released_[index(id)] &&
         std::all_of(waits_for.begin(), waits_for.end(), [this](StepId before) { return ended_[index(before)]; });
}

void NodeGpuSteps::enqueue_more() {
  for (; next_ < work_.order.size(); ++next_) {
    auto const id = work_.order[next_];
    if (!may_enqueue(id)) return;
    try {
      enqueue(id);
    } catch (DeviceError const& error) {
      throw DeviceError(fmt::format("step '{}'", steps()[index(id)].transfer), error);
    }
    in_stream_[assignment_.steps[index(id)].stream] += run_steps_[index(id)].prepared.move->commands();
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
    launch_gate(flags_->word(word), epoch_, kNoLimit.count(), stream);
}

void NodeGpuSteps::write_word(std::size_t word, cudaStream_t stream) const {
  auto* const write_value = reinterpret_cast<decltype(&cuStreamWriteValue32)>(write_value_);
  auto const address = reinterpret_cast<CUdeviceptr>(flags_->word(word));
  if (write_value == nullptr || write_value(stream, address, epoch_, CU_STREAM_WRITE_VALUE_DEFAULT) != CUDA_SUCCESS)
    launch_signal(flags_->word(word), epoch_, stream);
}

// The words are read from the last step to the first: where one has ended, all that it waited for are seen to have,
// too.
void NodeGpuSteps::poll(std::vector<StepId>& ended) {
  bool any = false;
  for (auto found = under_way_.rbegin(); found != under_way_.rend(); ++found)
    if (flags_->load(done(*found)) == epoch_) any = ended_[index(*found)] = true;
  if (!any) return;
  std::erase_if(under_way_, [&](StepId id) {
    if (!ended_[index(id)]) return false;
    auto& move = *run_steps_[index(id)].prepared.move;
    in_stream_[assignment_.steps[index(id)].stream] -= move.commands();
    move.rethrow();
    ended.push_back(id);
    return true;
  });
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
    if (!has_own_memory(steps()[i])) continue;
    if (auto const wrong = run_steps_[i].prepared.mismatch(seed_of(i))) by_step[i] = text_of(*wrong);
  }
  return by_step;
}

std::unique_ptr<DeviceSteps> make_device_steps(DeviceWork const& work, std::optional<int> first_gpu) {
  return std::make_unique<NodeGpuSteps>(work, first_gpu);
}

}  // namespace lanewise::hw
