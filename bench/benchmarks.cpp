// What the work inside one process costs: reading machines, making models, choosing ways, simulating, checking.
// bench/run.sh puts the medians in docs/benchmarks.md.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <random>

#include "bench/heap_counter.hpp"
#include "core/design/comparison.hpp"
#include "core/estimate/demands.hpp"
#include "core/estimate/schedule.hpp"
#include "core/workload/step_time.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/explain/matrix.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "lanewise/scenario/scenario.hpp"
#ifdef LANEWISE_BENCH_EXPLORE
#include "explore/exploration.hpp"
#endif
#ifdef LANEWISE_BENCH_SIM
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/sim/simgrid_executor.hpp"
#include "lanewise/verdict/scenario_check.hpp"
#endif

namespace lanewise::bench {
namespace {

using namespace literals;

constexpr char kEightGpus[] = "hgx-h100";
constexpr char kEightGpusPcie[] = "a100x8-pcie-4sw";
constexpr char kMesh[] = "dgx-1-v100";
constexpr char kCluster[] = "hgx-h100-32";

Catalogue fresh_catalogue() { return Catalogue({LANEWISE_SOURCE_DIR "/topologies"}); }

Machine machine_named(char const* name) { return fresh_catalogue().machine(name); }

// Counts what one iteration takes from the heap, allocations and the most it holds at once, then times the loop.
// `pieces` is how many equal pieces of work one iteration does.
template <class Work>
void measure(benchmark::State& state, Work work, double pieces = 1) {
  work();  // everything that is made once is made
  begin_to_count_heap();
  work();
  auto const heap = end_heap_count();
  for (auto _ : state) work();
  state.counters["allocations"] = static_cast<double>(heap.allocations) / pieces;
  state.counters["peak_bytes"] = static_cast<double>(heap.peak_bytes);
  state.counters["pieces"] = pieces;
}

// --------------------------------------------------------------------------------------------------- reading,
// modelling

void load(benchmark::State& state, char const* name) {
  measure(state, [&] { benchmark::DoNotOptimize(machine_named(name)); });
}

void load_warm(benchmark::State& state, char const* name) {
  auto catalogue = fresh_catalogue();
  measure(state, [&] { benchmark::DoNotOptimize(catalogue.machine(name)); });
}

void make_model(benchmark::State& state, char const* name) {
  auto const machine = machine_named(name);
  measure(state, [&] { benchmark::DoNotOptimize(Model(machine)); });
}

// -------------------------------------------------------------------------------------------------------------
// choosing

struct Pair {
  char const* machine;
  char const* from;
  char const* to;
  Mechanism expected;
};

void choose(benchmark::State& state, Pair const& pair) {
  Model const model(machine_named(pair.machine));
  Planner const planner(model);
  Request const request{
      .from = model.machine().place(pair.from), .to = model.machine().place(pair.to), .bytes = 256_MiB};
  auto const choice = planner.choose(request);
  if (!choice.chosen || choice.evaluated[*choice.chosen].way.mechanism != pair.expected)
    return state.SkipWithError("another mechanism was chosen than this benchmark is about");
  measure(state, [&] { benchmark::DoNotOptimize(planner.choose(request)); });
}

std::vector<Request> all_pairs(Machine const& machine) {
  std::vector<Request> requests;
  for (auto const from : machine.all(PciKind::Gpu))
    for (auto const to : machine.all(PciKind::Gpu))
      requests.push_back({.id = "t", .from = from, .to = to, .bytes = 256_MiB});
  return requests;
}

// Every pair once in an iteration; the counter `pieces` says how many.
void choose_all(benchmark::State& state, char const* name) {
  Model const model(machine_named(name));
  Planner const planner(model);
  auto const requests = all_pairs(model.machine());
  auto const work = [&] {
    for (auto const& request : requests) benchmark::DoNotOptimize(planner.choose(request));
  };
  measure(state, work, static_cast<double>(requests.size()));
}

// The same with everything that a plan keeps: routes, reasons, rejected candidates.
void plan_all(benchmark::State& state, char const* name) {
  Model const model(machine_named(name));
  Planner const planner(model);
  auto const requests = all_pairs(model.machine());
  auto const work = [&] {
    for (auto const& request : requests) benchmark::DoNotOptimize(planner.plan({request}));
  };
  measure(state, work, static_cast<double>(requests.size()));
}

// All pairs of GPUs at once, as one set.
struct PlannedSet {
  char const* machine;
  Effort effort;
  Bytes bytes = 64_MiB;    // of each transfer
  bool any_mover = false;  // kernels may move it as well as copy engines
};

void plan_set(benchmark::State& state, PlannedSet const& set) {
  Model const model(machine_named(set.machine));
  SetPlanner const planner(model);
  std::vector<Request> requests;
  for (auto const from : model.machine().all(PciKind::Gpu))
    for (auto const to : model.machine().all(PciKind::Gpu))
      if (from != to)
        requests.push_back({.id = "t" + std::to_string(requests.size()),
                            .from = from,
                            .to = to,
                            .bytes = set.bytes,
                            .any_mover = set.any_mover});
  measure(state, [&] { benchmark::DoNotOptimize(planner.plan(requests, {Objective::Makespan, set.effort})); });
}

// Transfers of random sizes between random GPUs of a cluster, all at once, each its best way: hardly two end together.
struct FlowsAtOnce {
  std::size_t count;
};

std::vector<Step> random_steps(Model const& model, std::size_t count) {
  std::mt19937 random(1);
  auto const gpus = model.machine().all(PciKind::Gpu);
  std::vector<Request> requests;
  while (requests.size() < count) {
    auto const from = gpus[random() % gpus.size()];
    auto const to = gpus[random() % gpus.size()];
    if (from != to)
      requests.push_back({.id = "t" + std::to_string(requests.size()),
                          .from = from,
                          .to = to,
                          .bytes = Bytes(static_cast<std::int64_t>(1'000'000 + random() % 100'000'000))});
  }
  return Planner(model).plan(requests).steps;
}

void estimate_flows(benchmark::State& state, FlowsAtOnce flows) {
  Model const model(machine_named(kCluster));
  auto const steps = random_steps(model, flows.count);
  auto demands = demands_of(model, steps);
  for (auto& demand : demands) demand.engines = {};  // so that all flow at once
  measure(state, [&] { benchmark::DoNotOptimize(estimate(model, steps, demands)); });
}

// -----------------------------------------------------------------------------------------------------------
// simulating
// A step of a language model: its messages planned and estimated, and composed.
void compose(benchmark::State& state, char const* file) {
  auto const source = SourceText::load(std::filesystem::path(LANEWISE_SOURCE_DIR) / "scenarios/training" / file);
  auto const scenario = read_scenario(source);
  Model const model(machine_named(scenario.machines.front().c_str()));
  measure(state, [&] { benchmark::DoNotOptimize(step_time(*scenario.workload, model, model)); });
}

// Candidates of a brief by all of its jobs, estimated, without faults and sensitivity.
void compare(benchmark::State& state, char const* file) {
  auto brief = read_design_brief(SourceText::load(std::filesystem::path(LANEWISE_SOURCE_DIR) / "docs/examples" / file));
  brief.sensitivity = false;
  auto catalogue = fresh_catalogue();
  std::size_t evaluations = 0;
  measure(state, [&] {
    ResultStore store;  // each time an empty one
    benchmark::DoNotOptimize(compare_candidates(brief, {.catalogue = catalogue, .store = store}));
    evaluations = store.size();
  });
  state.counters["evaluations"] = static_cast<double>(evaluations);
}

#ifdef LANEWISE_BENCH_SIM

void matrix_simulated(benchmark::State& state, char const* name) {
  Model const model(machine_named(name));
  sim::SimGridExecutor executor(model);
  MatrixQuery question;
  question.bytes = 256_MiB;
  for (auto const gpu : model.machine().all(PciKind::Gpu)) question.places.emplace_back(gpu);
  measure(state, [&] { benchmark::DoNotOptimize(make_matrix(model, question, &executor)); });
}

// One collective among all GPUs of a cluster, planned before, with every step.
struct SimulatedCollective {
  char const* machine;
  CollectiveOp op;
};

void simulate_collective(benchmark::State& state, SimulatedCollective const& simulated) {
  Model const model(machine_named(simulated.machine));
  Collective collective{simulated.op, {}, 256_MiB};
  for (auto const gpu : model.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  auto const plan = plan_collective(model, collective, Detail::EveryStep);
  sim::SimGridExecutor executor(model);
  measure(state, [&] { benchmark::DoNotOptimize(executor.run(plan)); });
}

void check(benchmark::State& state, char const* file) {
  auto const source = SourceText::load(std::filesystem::path(LANEWISE_SOURCE_DIR) / "scenarios" / file);
  auto catalogue = fresh_catalogue();
  CheckContext const context{[&](std::string const& name) { return catalogue.machine(name); },
                             [](Model const& model) { return std::make_unique<sim::SimGridExecutor>(model); },
                             catalogue, "sim"};
  measure(state, [&] { benchmark::DoNotOptimize(check_scenario(read_scenario(source), context)); });
}

#endif

#ifdef LANEWISE_BENCH_EXPLORE
// Everything that a page shows, after a change of ACS.
void explore(benchmark::State& state, char const* name) {
  auto catalogue = fresh_catalogue();
  Exploration exploration(catalogue, {open_machine(catalogue, name)}, {}, ".");
  auto const opened = exploration.open({{"name", name}});
  Exploration::Json request{{"file", opened["file"]}, {"text", opened["text"]},
                            {"from", "gpu0"},         {"to", "gpu5"},
                            {"settings", {"acs=on"}}, {"want", {"machine", "matrix", "route", "jobs"}}};
  bool is_on = true;
  measure(state, [&] {
    is_on = !is_on;
    request["settings"] = {is_on ? "acs=on" : "acs=off"};
    benchmark::DoNotOptimize(exploration.evaluate(request));
  });
}
#endif

void add_all() {
  auto const add = [](char const* name, auto function, auto argument, benchmark::TimeUnit unit) {
    return benchmark::RegisterBenchmark(name, function, argument)->Unit(unit);
  };
  using benchmark::kMicrosecond;
  using benchmark::kMillisecond;
  add("load_8_gpus", load, kEightGpus, kMillisecond);
  add("load_8_gpus_warm", load_warm, kEightGpus, kMillisecond);
  add("load_cluster", load, kCluster, kMillisecond);
  add("load_cluster_warm", load_warm, kCluster, kMillisecond);
  add("model_8_gpus", make_model, kEightGpus, kMillisecond);
  add("model_cluster", make_model, kCluster, kMillisecond);
  add("choose_nvlink", choose, Pair{kEightGpus, "gpu0", "gpu5", Mechanism::Nvlink}, kMicrosecond);
  add("choose_nvlink_relay", choose, Pair{kMesh, "gpu0", "gpu5", Mechanism::NvlinkRelay}, kMicrosecond);
  add("choose_pcie_p2p", choose, Pair{kEightGpusPcie, "gpu0", "gpu1", Mechanism::PcieP2p}, kMicrosecond);
  add("choose_host_staged", choose, Pair{"gn5-8xp100", "gpu0", "gpu4", Mechanism::HostStaged}, kMicrosecond);
  add("choose_8x8_nvlink", choose_all, kEightGpus, kMicrosecond);
  add("choose_8x8_pcie", choose_all, kEightGpusPcie, kMicrosecond);
  add("choose_cluster_same_node", choose, Pair{kCluster, "node17/gpu0", "node17/gpu5", Mechanism::Nvlink},
      kMicrosecond);
  add("choose_cluster_same_rail", choose, Pair{kCluster, "node0/gpu2", "node31/gpu2", Mechanism::Gdr}, kMicrosecond);
  add("choose_cluster_other_rail", choose, Pair{kCluster, "node0/gpu0", "node31/gpu5", Mechanism::Gdr}, kMicrosecond);
  add("choose_cluster_all_pairs", choose_all, kCluster, kMillisecond);
  add("plan_8x8_nvlink", plan_all, kEightGpus, kMicrosecond);
  add("plan_8x8_pcie", plan_all, kEightGpusPcie, kMicrosecond);
  add("plan_set_quickly_nvlink", plan_set, PlannedSet{kEightGpus, Effort::Quick}, kMillisecond);
  add("plan_set_quickly_pcie", plan_set, PlannedSet{kEightGpusPcie, Effort::Quick}, kMillisecond);
  add("plan_set_quickly_mesh", plan_set, PlannedSet{kMesh, Effort::Quick}, kMillisecond);
  add("plan_set_nvlink", plan_set, PlannedSet{kEightGpus, Effort::Full}, kMillisecond);
  add("plan_set_pcie", plan_set, PlannedSet{kEightGpusPcie, Effort::Full}, kMillisecond);
  add("plan_set_pcie_by_any_mover", plan_set, PlannedSet{kEightGpusPcie, Effort::Full, 64_MiB, true}, kMillisecond);
  add("plan_set_pcie_by_schedules", plan_set, PlannedSet{kEightGpusPcie, Effort::Full, 512_MiB}, kMillisecond);
  add("plan_set_mesh", plan_set, PlannedSet{kMesh, Effort::Full}, kMillisecond);
  add("estimate_250_flows", estimate_flows, FlowsAtOnce{250}, kMillisecond);
  add("estimate_2000_flows", estimate_flows, FlowsAtOnce{2000}, kMillisecond);
  add("estimate_10000_flows", estimate_flows, FlowsAtOnce{10000}, kMillisecond);
  add("step_of_128_gpus", compose, "llama-8b-grows-from-one-node-to-sixteen.yaml", kMillisecond);
  add("compare_4_candidates", compare, "inference-box.yaml", kMillisecond);
  add("compare_72_generated_candidates", compare, "server-from-parts.yaml", kMillisecond);
#ifdef LANEWISE_BENCH_EXPLORE
  add("explore_change_nvlink", explore, kEightGpus, kMillisecond);
  add("explore_change_pcie", explore, kEightGpusPcie, kMillisecond);
#endif
#ifdef LANEWISE_BENCH_SIM
  add("simulate_8x8_nvlink", matrix_simulated, kEightGpus, kMillisecond);
  add("simulate_8x8_pcie", matrix_simulated, kEightGpusPcie, kMillisecond);
  add("simulate_all_to_all_of_256", simulate_collective, SimulatedCollective{kCluster, CollectiveOp::AllToAll},
      kMillisecond);
  add("simulate_all_gather_of_1024", simulate_collective,
      SimulatedCollective{LANEWISE_SOURCE_DIR "/bench/hgx-h100-128.yaml", CollectiveOp::AllGather}, kMillisecond);
  add("check_scenario", check, "acs-halves-bidirectional-p2p.yaml", kMillisecond);
  add("check_collectives", check, "training-scales-on-dgx-1.yaml", kMillisecond);
#endif
}

}  // namespace
}  // namespace lanewise::bench

int main(int argc, char** argv) {
  lanewise::bench::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
