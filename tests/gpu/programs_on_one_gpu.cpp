// Runs collectives and sets of many GPUs with all participants on one GPU: the same plans, kernels, flags and checks as
// on many. One GPU cannot show the speed of links, nor that another GPU's memory is visible as soon as its flag is.
// usage: lanewise_programs_on_one_gpu TOPOLOGIES_FOLDER
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "core/solver/linear_program.hpp"
#include "core/units/statistics.hpp"
#include "hw/cuda/devices/open_devices.hpp"
#include "hw/cuda/runs/plan_run.hpp"
#include "hw/cuda/runs/program_run.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "lanewise/units/text.hpp"

namespace {

using namespace lanewise;
using namespace lanewise::hw;
using namespace lanewise::literals;

constexpr int kRuns = 3;    // so that flags and counters are reused
constexpr int kTimed = 51;  // runs, of which the median counts
constexpr CollectiveOp kOps[] = {CollectiveOp::Broadcast, CollectiveOp::Scatter,       CollectiveOp::Gather,
                                 CollectiveOp::AllGather, CollectiveOp::ReduceScatter, CollectiveOp::Reduce,
                                 CollectiveOp::AllReduce, CollectiveOp::AllToAll};

Collective among(Machine const& machine, CollectiveOp op, std::size_t count, Bytes bytes) {
  Collective collective{op, {}, bytes};
  collective.root = count / 2;
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (collective.among.size() < count) collective.among.emplace_back(gpu);
  return collective;
}

class OneGpu {
 public:
  explicit OneGpu(Machine const& machine) : model_(machine), devices_(machine, Device(0)) {}

  // Every collective by every algorithm among every number of participants. Returns how many plans failed.
  int collectives() {
    auto const gpus = std::min<std::size_t>(model_.machine().all(PciKind::Gpu).size(), 8);
    for (std::size_t count = 2; count <= gpus; ++count)
      for (auto const op : kOps)
        for (auto const bytes : sizes(op, count))
          for (auto const& plan : plans_of_collective(model_, among(model_.machine(), op, count, bytes))) both(plan);
    fmt::print("{}: {} plans as programs, {} by streams, {} wrong\n", model_.machine().name, programs_, streams_,
               wrong_);
    return wrong_;
  }

  // A missing step must be detected.
  int missing_step() {
    auto plan = plan_collective(model_, among(model_.machine(), CollectiveOp::AllReduce, 2, 1_MiB));
    plan.steps.pop_back();
    ProgramRun run(plan, devices_);
    run.once();
    auto const found = run.mismatches();
    bool const shown = std::any_of(found.begin(), found.end(), [](auto const& text) { return !text.empty(); });
    fmt::print("a step left out: {}\n", shown ? "found" : "NOT FOUND");
    return shown ? 0 : 1;
  }

  // A kernel that computes between two others takes the requested time.
  int compute() {
    constexpr Seconds kWork{300e-6};
    auto const gpu = model_.machine().all(PciKind::Gpu).front();
    Plan plan{model_.machine().name, fingerprint(model_.machine()), {}, {}};
    for (std::uint32_t i = 0; i < 3; ++i) {
      plan.steps.push_back(
          {"step" + std::to_string(i), gpu, gpu, 1_MiB, Op::Copy, {.mechanism = Mechanism::Local}, {}});
      if (i > 0) plan.steps.back().after = {StepId(i - 1)};
    }
    plan.steps[1].bytes = Bytes(0);
    plan.steps[1].work = kWork;
    PlanRun run(plan, model_, devices_, no_drives_);
    std::vector<double> took;
    for (int i = 0; i < kRuns; ++i) {
      auto const times = run.once().steps;
      took.push_back((times[1].end - times[1].start).value());
    }
    // Allows for a launch and for the events' resolution of half a microsecond.
    bool const right = median(took) > kWork.value() - 1e-6 && median(took) < kWork.value() + 20e-6;
    fmt::print("computing {}: took {} {}\n", rounded_text(kWork), rounded_text(Seconds(median(took))),
               right ? "" : "WRONG");
    return right ? 0 : 1;
  }

  // Trees through kernels, copy engines and host memory.
  void packed_trees() {
    if (!linear_solver()) return fmt::print("{}: no packed trees without a linear solver\n", model_.machine().name);
    for (auto const op : {CollectiveOp::Broadcast, CollectiveOp::AllGather}) {
      auto collective = among(model_.machine(), op, model_.machine().all(PciKind::Gpu).size(), 64_MiB);
      collective.algorithm = Algorithm::PackedTrees;
      auto const plan = plan_collective(model_, collective);
      ++streams_;
      PlanRun run(plan, model_, devices_, no_drives_);
      check(run, std::string(to_string(op)) + " by packed trees");
      auto const through_host = std::count_if(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
        return std::holds_alternative<NumaId>(step.from) || std::holds_alternative<NumaId>(step.to);
      });
      fmt::print("{}: {} by packed trees, {} steps, {} of them at host memory\n", model_.machine().name, to_string(op),
                 plan.steps.size(), through_host);
    }
  }

  // Hierarchical collectives of pairs in all forms: in one piece, in slices and, with three pairs, in blocks. Returns
  // how many plans failed.
  int in_groups(std::size_t count) {
    for (auto const op : {CollectiveOp::Broadcast, CollectiveOp::Scatter, CollectiveOp::Gather, CollectiveOp::AllGather,
                          CollectiveOp::ReduceScatter, CollectiveOp::Reduce, CollectiveOp::AllReduce}) {
      auto collective = among(model_.machine(), op, count, Bytes(static_cast<std::int64_t>(count) << 20));
      collective.algorithm = Algorithm::Hierarchical;
      std::size_t steps = 0;
      auto const plans = plans_of_collective(model_, collective);
      for (auto const& plan : plans) {
        ++streams_;
        steps = std::max(steps, plan.steps.size());
        PlanRun run(plan, model_, devices_, no_drives_);
        check(run, name_of(plan, "streams"));
      }
      fmt::print("{}: {} among {} hierarchical in {} forms, up to {} steps\n", model_.machine().name, to_string(op),
                 count, plans.size(), steps);
    }
    return wrong_;
  }

  // Transfers of a quarter to four times the size between all GPUs, in pieces and turns. Returns how many plans of this
  // machine have failed so far.
  int planned_together() {
    std::vector<Request> requests;
    auto const gpus = model_.machine().all(PciKind::Gpu);
    for (auto const from : gpus)
      for (auto const to : gpus)
        if (from != to)
          requests.push_back({.id = fmt::format("t{}", requests.size()),
                              .from = from,
                              .to = to,
                              .bytes = Bytes((2_MiB).value() << (requests.size() * 7 % 5))});
    auto const plan = SetPlanner(model_).plan(requests, {Objective::Makespan});
    PlanRun run(plan, model_, devices_, no_drives_);
    check(run, "a set");
    auto const turns =
        std::count_if(plan.steps.begin(), plan.steps.end(), [](Step const& step) { return !step.order_only.empty(); });
    fmt::print("{}: {} transfers planned together, {} steps, {} of them in turns\n", model_.machine().name,
               requests.size(), plan.steps.size(), turns);
    return wrong_;
  }

  // Measures how long the flags of a small all_reduce take, without the time of links.
  void times() {
    for (std::size_t const count : {2, 4, 8})
      for (auto const bytes : {4_KiB, 64_KiB, 1_MiB})
        for (auto const& plan :
             plans_of_collective(model_, among(model_.machine(), CollectiveOp::AllReduce, count, bytes)))
          if (plan.collective->algorithm == Algorithm::Direct) time(plan);
  }

 private:
  // One element each, an odd number of elements, and sizes that are no multiple of 16 bytes.
  static std::vector<Bytes> sizes(CollectiveOp op, std::size_t count) {
    auto const unit = static_cast<std::int64_t>(16 * count);
    std::vector<Bytes> sizes{Bytes(unit), Bytes(unit * 12345)};
    if (op != CollectiveOp::AllToAll) sizes.emplace_back(1000004);
    return sizes;
  }

  void both(Plan const& plan) {
    if (!why_streams(plan, model_.machine())) {
      ProgramRun run(plan, devices_);
      ++programs_;
      check(run, name_of(plan, "program"));
    }
    // Streams need events and pinned memory, so only one size among few GPUs.
    if (plan.collective->among.size() > 4 || plan.collective->bytes != Bytes(1000004)) return;
    PlanRun run(plan, model_, devices_, no_drives_);
    ++streams_;
    check(run, name_of(plan, "streams"));
  }
  static std::string name_of(Plan const& plan, std::string const& form) {
    return fmt::format("{} of {} by {} among {}, {}", to_string(plan.collective->op),
                       exact_text(plan.collective->bytes), to_string(plan.collective->algorithm),
                       plan.collective->among.size(), form);
  }
  void check(Run& run, std::string const& what) {
    for (int i = 0; i < kRuns; ++i) {
      run.once();
      for (auto const& text : run.mismatches()) {
        if (text.empty()) continue;
        fmt::print("WRONG {}, run {}: {}\n", what, i, text);
        ++wrong_;
        return;
      }
    }
  }

  void time(Plan const& plan) {
    ProgramRun run(plan, devices_);
    std::vector<double> makespans;
    std::vector<double> tasks;
    for (int i = 0; i < kTimed; ++i) {
      auto const times = run.once();
      makespans.push_back(times.makespan.value());
      double first = times.steps.front().start.value();
      double last = 0;
      for (auto const& step : times.steps) {
        first = std::min(first, step.start.value());
        last = std::max(last, step.end.value());
      }
      tasks.push_back(last - first);
    }
    fmt::print("all_reduce of {} among {} in {}: {} between events, {} from the first task to the end of the last\n",
               exact_text(plan.collective->bytes), plan.collective->among.size(),
               plan.buffers.size() > plan.collective->among.size() ? "one step " : "two steps",
               rounded_text(Seconds(median(makespans))), rounded_text(Seconds(median(tasks))));
  }

  Model model_;
  Devices devices_;
  Drives no_drives_{model_.machine(), {}};
  int programs_ = 0, streams_ = 0, wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} TOPOLOGIES_FOLDER\n", argv[0]);
    return 2;
  }
  try {
    set_cuda_environment();
    if (auto const found = count_devices(); found.count == 0) {
      fmt::print("{}\n", found.reason);
      return 77;
    }
    Catalogue catalogue({argv[1]});
    int wrong = 0;
    OneGpu eight(catalogue.machine("hgx-h200"));
    wrong += eight.missing_step();
    wrong += eight.compute();
    eight.times();
    std::fflush(stdout);
    wrong += eight.collectives();
    std::fflush(stdout);
    wrong += OneGpu(catalogue.machine("dgx-1-v100")).collectives();
    std::fflush(stdout);
    for (auto const* name : {"gh200x4", "h100-pcie-x8", "dgx-1-v100"}) {
      auto machine = catalogue.machine(name);
      for (auto& node : machine.numa_nodes) node.os_index = 0;  // this machine may have only one
      OneGpu many(machine);
      many.packed_trees();
      wrong += many.planned_together();
      std::fflush(stdout);
    }
    for (auto const& [name, count] : {std::pair{"h100-nvl-pairs", std::size_t{4}}, {"h100-pcie-x8", 6}}) {
      auto pairs = catalogue.machine(name);
      for (auto& node : pairs.numa_nodes) node.os_index = 0;
      wrong += OneGpu(pairs).in_groups(count);
    }
    return wrong == 0 ? 0 : 1;
  } catch (std::exception const& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
