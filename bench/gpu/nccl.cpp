#include "bench/gpu/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units/statistics.hpp"
#include "hw/cuda/runs/watchdog.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/timing/event_time.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

using Element = std::uint32_t;  // as the executor's additions

void check_nccl(ncclResult_t result, char const* call) {
  if (result != ncclSuccess) throw DeviceError(call, static_cast<int>(result), ncclGetErrorString(result));
}

}  // namespace

Nccl::Nccl(Devices const& devices, Links& links, Bytes max_bytes) : links_(links), gate_(devices.all()) {
  std::vector<int> ordinals;
  for (auto const device : devices.all()) ordinals.push_back(ordinal(device));
  std::vector<ncclComm_t> communicators(ordinals.size());
  check_nccl(ncclCommInitAll(communicators.data(), static_cast<int>(ordinals.size()), ordinals.data()),
             "ncclCommInitAll");
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    auto const device = devices.all()[i];
    gpus_.push_back({device, Communicator(communicators[i]), make_stream(device), make_event(device),
                     make_event(device), allocate_on(device, max_bytes), allocate_on(device, max_bytes)});
  }
}

std::string Nccl::version() {
  int version = 0;
  check_nccl(ncclGetVersion(&version), "ncclGetVersion");
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

// The root is the first GPU. A call for each message, as nccl-tests does it, also for the root's own part.
void Nccl::exchange_with_root(CollectiveOp op, std::size_t elements, std::size_t rank) {
  auto& gpu = gpus_[rank];
  auto const part = elements / gpus_.size();
  auto const send = [&](std::size_t of, int peer) {
    auto* const at = static_cast<Element*>(gpu.data.get()) + of * part;
    check_nccl(ncclSend(at, part, ncclUint32, peer, gpu.communicator.get(), gpu.stream.get()), "ncclSend");
  };
  auto const receive = [&](std::size_t of, int peer) {
    auto* const at = static_cast<Element*>(gpu.output.get()) + of * part;
    check_nccl(ncclRecv(at, part, ncclUint32, peer, gpu.communicator.get(), gpu.stream.get()), "ncclRecv");
  };
  bool const root_sends = op == CollectiveOp::Scatter;
  if (rank == 0)
    for (std::size_t other = 0; other < gpus_.size(); ++other) {
      if (root_sends)
        send(other, static_cast<int>(other));
      else
        receive(other, static_cast<int>(other));
    }
  if (root_sends)
    receive(rank, 0);
  else
    send(rank, 0);
}

// In place where NCCL supports that, as the executor's.
void Nccl::enqueue(CollectiveOp op, std::size_t elements, std::size_t rank) {
  auto& gpu = gpus_[rank];
  auto* const data = static_cast<Element*>(gpu.data.get());
  auto* const output = static_cast<Element*>(gpu.output.get());
  auto const part = elements / gpus_.size();
  auto* const communicator = gpu.communicator.get();
  auto* const stream = gpu.stream.get();
  switch (op) {
    case CollectiveOp::AllReduce:
      check_nccl(ncclAllReduce(data, data, elements, ncclUint32, ncclSum, communicator, stream), "ncclAllReduce");
      break;
    case CollectiveOp::AllGather:
      check_nccl(ncclAllGather(data + rank * part, data, part, ncclUint32, communicator, stream), "ncclAllGather");
      break;
    case CollectiveOp::ReduceScatter:
      check_nccl(ncclReduceScatter(data, data + rank * part, part, ncclUint32, ncclSum, communicator, stream),
                 "ncclReduceScatter");
      break;
    case CollectiveOp::AllToAll:
      for (std::size_t other = 0; other < gpus_.size(); ++other) {
        auto const peer = static_cast<int>(other);
        check_nccl(ncclSend(data + other * part, part, ncclUint32, peer, communicator, stream), "ncclSend");
        check_nccl(ncclRecv(output + other * part, part, ncclUint32, peer, communicator, stream), "ncclRecv");
      }
      break;
    case CollectiveOp::Broadcast:
      check_nccl(ncclBroadcast(data, data, elements, ncclUint32, 0, communicator, stream), "ncclBroadcast");
      break;
    case CollectiveOp::Reduce:
      check_nccl(ncclReduce(data, data, elements, ncclUint32, ncclSum, 0, communicator, stream), "ncclReduce");
      break;
    case CollectiveOp::Scatter:
    case CollectiveOp::Gather: exchange_with_root(op, elements, rank); break;
    default: throw PlanError(fmt::format("{} is not compared with NCCL", to_string(op)));
  }
}

void Nccl::enqueue(CollectiveOp op, std::size_t elements) {
  check_nccl(ncclGroupStart(), "ncclGroupStart");
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) enqueue(op, elements, rank);
  check_nccl(ncclGroupEnd(), "ncclGroupEnd");
}

Seconds Nccl::once(CollectiveOp op, std::size_t elements) {
  links_.wake();
  enqueue(op, elements);  // fetches its code, as the executor does before it times
  for (auto const& gpu : gpus_) check_cuda(cudaStreamSynchronize(gpu.stream.get()), "cudaStreamSynchronize");
  gate_.close();
  EnqueueWatchdog watchdog(gate_);
  for (auto const& gpu : gpus_) {
    DeviceGuard const guard(gpu.device);
    gate_.hold(gpu.device, gpu.stream.get());
    check_cuda(cudaEventRecord(gpu.begin.get(), gpu.stream.get()), "cudaEventRecord");
  }
  watchdog.made_progress();
  enqueue(op, elements);
  watchdog.made_progress();
  for (auto const& gpu : gpus_) {
    DeviceGuard const guard(gpu.device);
    check_cuda(cudaEventRecord(gpu.end.get(), gpu.stream.get()), "cudaEventRecord");
  }
  began_early_ = watchdog.stop() || began_early_;
  gate_.open();
  Seconds makespan{0};
  for (auto const& gpu : gpus_) {
    DeviceGuard const guard(gpu.device);
    check_cuda(cudaStreamSynchronize(gpu.stream.get()), "cudaStreamSynchronize");
    makespan = std::max(makespan, gate_.without_event_cost(gpu.device, between(gpu.begin.get(), gpu.end.get())));
  }
  return makespan;
}

Nccl::Sample Nccl::time(CollectiveOp op, Bytes bytes, Repetition repetition) {
  auto const elements = static_cast<std::size_t>(bytes.value()) / sizeof(Element);
  began_early_ = false;
  // The first collective of a kind connects the GPUs and waits for them, so it must not run behind a gate.
  for (int i = 0; i < repetition.warm_up; ++i) enqueue(op, elements);
  for (auto const& gpu : gpus_) check_cuda(cudaStreamSynchronize(gpu.stream.get()), "cudaStreamSynchronize");
  std::vector<double> times;
  for (int i = 0; i < repetition.repeat; ++i) times.push_back(once(op, elements).value());
  return {Seconds(median(times)), began_early_};
}

}  // namespace lanewise::hw
