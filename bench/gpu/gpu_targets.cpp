// Compares the CUDA executor with plain CUDA in one process. Each line has a figure, its target, and whether it is met.
// usage: lanewise_gpu_targets MACHINE.yaml TOPOLOGIES_FOLDER
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "core/text/table.hpp"
#include "core/units/statistics.hpp"
#include "hw/cuda/cuda_executor.hpp"
#include "hw/cuda/cuda_meter.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/runtime/handles.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/planner/planner.hpp"

namespace {

using namespace lanewise;
using namespace lanewise::hw;
using namespace lanewise::literals;

constexpr Bytes kLarge = 256_MiB;
constexpr Bytes kLargest = 1_GiB;
constexpr int kRepeat = 15;
constexpr int kChain = 16;

std::size_t length(Bytes bytes) { return static_cast<std::size_t>(bytes.value()); }

// The median time in seconds that a stream of GPU 0 takes for what `enqueue` puts into it.
double plain(std::function<void(cudaStream_t)> const& enqueue) {
  DeviceGuard const guard(Device(0));
  auto const stream = make_stream(Device(0));
  auto const begin = make_event(Device(0));
  auto const end = make_event(Device(0));
  std::vector<double> times;
  for (int i = -2; i < kRepeat; ++i) {
    check_cuda(cudaEventRecord(begin.get(), stream.get()), "cudaEventRecord");
    enqueue(stream.get());
    check_cuda(cudaEventRecord(end.get(), stream.get()), "cudaEventRecord");
    check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
    if (i >= 0) times.push_back(static_cast<double>(milliseconds) * 1e-3);
  }
  return median(times);
}

class Targets {
 public:
  explicit Targets(Model const& model)
      : model_(model),
        planner_(model),
        gpu0_(model.machine().all(PciKind::Gpu).at(0)),
        gpu1_(model.machine().all(PciKind::Gpu).at(1)),
        numa_(NumaId(0)) {}

  bool run() {
    single_copy();
    kernels();
    staged();
    overhead();
    fmt::print("{}", table_.text());
    return met_;
  }

 private:
  [[nodiscard]] Step step(Place from, Place to, Bytes bytes, Op op, std::optional<Mechanism> only = {},
                          bool by_driver = false) const {
    Request request{.id = "t", .from = from, .to = to, .bytes = bytes, .op = op};
    request.only = only;
    request.by_driver = by_driver;
    auto const choice = planner_.choose(request);
    if (!choice.chosen) throw PlanError("no legal way for a target");
    return {request.id, from, to, bytes, op, choice.evaluated[*choice.chosen].way, {}};
  }
  [[nodiscard]] double executed(std::vector<Step> steps) const {
    Plan const plan{model_.machine().name, fingerprint(model_.machine()), std::move(steps), {}};
    auto const trace = CudaExecutor(model_, {{2, kRepeat}, {}}).run(plan);
    for (auto const& one : trace.steps)
      if (!*one.verified) throw PlanError("wrong bytes: " + one.mismatch);
    return trace.steps.back().end.value() - trace.steps.front().start.value();
  }
  void line(std::string const& what, std::string const& figure, double value, double target, bool at_least) {
    bool const met = at_least ? value >= target : value <= target;
    met_ = met_ && met;
    table_.add({what, figure, fmt::format("{} {:.2f}", at_least ? ">=" : "<=", target), fmt::format("{:.3f}", value),
                met ? "met" : "MISSED"});
  }
  static std::string rate(double seconds, Bytes bytes = kLarge) {
    return fmt::format("{:.1f} GB/s", static_cast<double>(bytes.value()) / seconds * 1e-9);
  }

  // Both sides run many copies in a row, so that the start of the stream does not count.
  void single_copy() {
    constexpr int kLoop = 8;
    auto const ours = executed(chain_of(kLarge, kLoop)) / kLoop;  // also opens peer access
    auto const source = allocate_on(Device(0), kLarge);
    auto const target = allocate_on(Device(1), kLarge);
    auto const loop = plain([&](cudaStream_t stream) {
                        for (int i = 0; i < kLoop; ++i)
                          check_cuda(cudaMemcpyPeerAsync(target.get(), 1, source.get(), 0, length(kLarge), stream),
                                     "cudaMemcpyPeerAsync");
                      }) /
                      kLoop;
    line("a single copy against a loop of cudaMemcpyPeerAsync", rate(ours) + " of " + rate(loop), loop / ours, 0.99,
         true);
  }

  // nvbandwidth, device_to_device_memcpy_write_sm and read_sm, on H100 and H200: 0.80 of 450 GB/s, the flits of 128 B.
  void kernels() {
    for (auto const op : {Op::Write, Op::Read}) {
      auto const took = executed({step(gpu0_, gpu1_, kLarge, op)});
      auto const demand = model_.lower(gpu0_, gpu1_, kLarge, op, step(gpu0_, gpu1_, kLarge, op).way);
      auto const expected = model_.cost(demand, kLarge);
      if (!expected) continue;
      line(fmt::format("{} by a kernel against the link's payload rate", to_string(op)), rate(took),
           expected->time.value() / took, 0.98, true);
    }
  }

  // The largest size that others measure. A ring's own costs only grow with the square root of the size.
  void staged() {
    auto const host = executed({step(numa_, gpu0_, kLargest, Op::Copy)});
    auto const driver = executed({step(gpu0_, gpu1_, kLargest, Op::Copy, Mechanism::HostStaged, true)});
    auto const ours = executed({step(gpu0_, gpu1_, kLargest, Op::Copy, Mechanism::HostStaged)});
    auto const rate_of = [](double seconds) { return rate(seconds, kLargest); };
    line("1 GiB staged through the host against the driver's own", rate_of(ours) + " of " + rate_of(driver),
         driver / ours, 1.4, true);
    line("1 GiB staged through the host against host to device", rate_of(ours) + " of " + rate_of(host), host / ours,
         0.93, true);
  }

  [[nodiscard]] std::vector<Step> chain_of(Bytes bytes, int count) const {
    std::vector<Step> chain;
    for (int i = 0; i < count; ++i) {
      chain.push_back(step(gpu0_, gpu1_, bytes, Op::Copy));
      chain.back().transfer += std::to_string(i);
      if (i > 0) chain.back().after = {StepId(static_cast<std::uint32_t>(i - 1))};
    }
    return chain;
  }

  // Small copies one after the other. The executor knows when each of its copies ended, so CUDA's copies have an event
  // each, too. The cost of the events is part of the figure.
  void overhead() {
    auto const ours = executed(chain_of(4_B, kChain)) / kChain;
    std::vector<Event> events;
    for (int i = 0; i < kChain; ++i) events.push_back(make_event(Device(0)));
    auto const source = allocate_on(Device(0), 64_B);
    auto const target = allocate_on(Device(1), 64_B);
    auto const copies = [&](bool timed) {
      auto const enqueue = [&](cudaStream_t stream) {
        for (auto const& event : events) {
          check_cuda(cudaMemcpyAsync(target.get(), source.get(), 4, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
          if (timed) check_cuda(cudaEventRecord(event.get(), stream), "cudaEventRecord");
        }
      };
      return plain(enqueue) / kChain;
    };
    auto const timed = copies(true);
    line("us a step beyond small copies with an event each",
         fmt::format("{:.2f} of {:.2f} us ({:.2f} without events)", ours * 1e6, timed * 1e6, copies(false) * 1e6),
         (ours - timed) * 1e6, 3.0, false);
  }

  Model const& model_;
  Planner planner_;
  PciId gpu0_, gpu1_;
  NumaId numa_;
  Table table_{{"what", "figure", "target", "ratio", ""}};
  bool met_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} MACHINE.yaml TOPOLOGIES_FOLDER\n", argv[0]);
    return 2;
  }
  try {
    Catalogue catalogue({argv[2]});
    Model const model(catalogue.machine(argv[1]));
    if (model.machine().all(PciKind::Gpu).size() < 2) {
      fmt::print(stderr, "{} has fewer than the two GPUs that copies between GPUs need\n", model.machine().name);
      return 3;
    }
    return Targets(model).run() ? 0 : 1;
  } catch (std::exception const& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
