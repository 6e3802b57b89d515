// Compares the executor's collectives with NCCL's in one process, timed in the same way, and NCCL's with what it is
// predicted to take; and one large transfer over one way with the same over two. usage: lanewise_nccl_comparison
// MACHINE TOPOLOGIES_FOLDER OUT.json
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/gpu/nccl.hpp"
#include "core/io/json.hpp"
#include "core/text/table.hpp"
#include "hw/cuda/cuda_executor.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "lanewise/units/text.hpp"

namespace {

using namespace lanewise;
using namespace lanewise::hw;
using namespace lanewise::literals;

constexpr Repetition kRepetition{2, 11};
constexpr Bytes kSizes[] = {4_KiB, 16_KiB, 64_KiB, 256_KiB, 1_MiB, 4_MiB, 16_MiB, 64_MiB, 128_MiB, 256_MiB, 512_MiB};
constexpr CollectiveOp kOps[] = {CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter,
                                 CollectiveOp::AllToAll,  CollectiveOp::Broadcast, CollectiveOp::Reduce,
                                 CollectiveOp::Scatter,   CollectiveOp::Gather};

class Comparison {
 public:
  explicit Comparison(Machine const& machine)
      : model_(machine),
        devices_(open_devices(machine)),
        links_(plan_collective(model_, collective(CollectiveOp::AllToAll, kSizes[0])).steps, *devices_),
        nccl_(*devices_, links_, *std::max_element(std::begin(kSizes), std::end(kSizes))),
        executor_(model_, {kRepetition, {}}) {}

  // True when every byte was right. Writes the file after every collective, so that a failure loses no results.
  bool run(std::string const& file) {
    report_ = {{"lanewise", "nccl-comparison/1"}, {"machine", model_.machine().name}, {"nccl", Nccl::version()}};
    for (auto const op : kOps) {
      for (auto const bytes : kSizes) collective_row(collective(op, bytes));
      write(file);
    }
    transfers();
    write(file);
    fmt::print("{}\n{}", collectives_.text(), transfers_.text());
    return right_;
  }

 private:
  [[nodiscard]] Collective collective(CollectiveOp op, Bytes bytes) const {
    Collective collective{op, {}, bytes};
    for (auto const gpu : model_.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
    return collective;
  }

  // Reports a wrong byte and measures the rest.
  [[nodiscard]] Trace executed(Plan const& plan) {
    auto trace = executor_.run(plan);
    for (auto const& step : trace.steps)
      if (!step.verified.value_or(false)) {
        fmt::print(stderr, "{} of {}: {}\n", step.transfer, exact_text(step.bytes), step.mismatch);
        right_ = false;
      }
    return trace;
  }

  void collective_row(Collective const& wanted) {
    auto const plan = plan_collective(model_, wanted);
    auto const predicted = estimate(model_, plan.steps).makespan;
    auto const trace = executed(plan);
    auto const theirs = nccl_.time(wanted.op, wanted.bytes, kRepetition);
    auto const expected = estimate(model_, plan_by_library(model_, wanted, library_).steps).makespan;
    auto const& algorithm = plan.collective->algorithm;
    auto const rate = [&](Seconds time) { return through_json(bus_bandwidth(wanted, time)).value() * 1e-9; };
    collectives_.add({std::string(to_string(wanted.op)), exact_text(wanted.bytes), std::string(to_string(algorithm)),
                      rounded_text(trace.makespan), rounded_text(theirs.time), rounded_text(predicted),
                      rounded_text(expected), fmt::format("{:.1f}", rate(trace.makespan)),
                      fmt::format("{:.1f}", rate(theirs.time)), fmt::format("{:.2f}", theirs.time / trace.makespan),
                      theirs.began_early ? "NCCL early" : ""});
    report_["collectives"].push_back({{"op", to_string(wanted.op)},
                                      {"bytes", wanted.bytes.value()},
                                      {"algorithm", to_string(algorithm)},
                                      {"steps", plan.steps.size()},
                                      {"form", trace.environment.at("form")},
                                      {"ours_us", microseconds(trace.makespan)},
                                      {"nccl_us", microseconds(theirs.time)},
                                      {"predicted_us", microseconds(predicted)},
                                      {"nccl_predicted_us", microseconds(expected)},
                                      {"ours_bus_GBps", rate(trace.makespan)},
                                      {"nccl_bus_GBps", rate(theirs.time)},
                                      {"ratio", theirs.time / trace.makespan},
                                      {"nccl_began_early", theirs.began_early}});
  }

  // 1 GiB between the first two GPUs: by its best way, through the host, and as planned over both at once.
  void transfers() {
    Planner const planner(model_);
    Request request{.id = "t", .from = model_.machine().all(PciKind::Gpu).at(0), .to = {}, .bytes = 1_GiB};
    request.to = model_.machine().all(PciKind::Gpu).at(1);
    transfer_row("one way", planner.plan({request}));
    transfer_row("as planned", SetPlanner(model_).plan({request}, {Objective::Makespan}));
    request.only = Mechanism::HostStaged;
    transfer_row("through the host", planner.plan({request}));
  }
  void transfer_row(std::string const& what, Plan plan) {
    plan.decisions.clear();
    auto const predicted = estimate(model_, plan.steps).makespan;
    auto const took = executed(plan).makespan;
    transfers_.add({what, rounded_text(took), rounded_text(predicted), rounded_text(1_GiB / took)});
    report_["transfers"].push_back({{"what", what},
                                    {"bytes", (1_GiB).value()},
                                    {"ours_us", microseconds(took)},
                                    {"predicted_us", microseconds(predicted)}});
  }

  void write(std::string const& file) const { std::ofstream(file) << report_.dump(2) << "\n"; }

  Model model_;
  Library library_ = parse_library("nccl-" + Nccl::version()).value.value_or(Library{});
  std::unique_ptr<Devices> devices_;
  Links links_;
  Nccl nccl_;
  CudaExecutor executor_;
  nlohmann::ordered_json report_;
  bool right_ = true;
  Table collectives_{{"collective", "bytes", "by", "ours", "NCCL", "predicted", "NCCL predicted", "ours GB/s",
                      "NCCL GB/s", "NCCL / ours", ""}};
  Table transfers_{{"1 GiB, gpu0 to gpu1", "took", "predicted", "rate"}};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: {} MACHINE TOPOLOGIES_FOLDER OUT.json\n", argv[0]);
    return 2;
  }
  // Without additions in NVSwitches (NVLS), which the executor's kernels do not use.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  try {
    Catalogue catalogue({argv[2]});
    auto machine = catalogue.machine(argv[1]);
    machine.library_environment["NCCL_NVLS_ENABLE"] = "0";
    return Comparison(machine).run(argv[3]) ? 0 : 1;
  } catch (std::exception const& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
}
