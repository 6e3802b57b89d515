#include "core/interop/exports/library_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/estimate/plan_parameters.hpp"
#include "core/interop/words.hpp"
#include "core/io/json.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/model/interval.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

struct NamedOp {
  CollectiveOp op;
  std::string_view name;  // as the reader of the table calls it
};
constexpr std::array<NamedOp, 5> kTunedOps{{{CollectiveOp::AllReduce, "allreduce"},
                                            {CollectiveOp::AllGather, "allgather"},
                                            {CollectiveOp::ReduceScatter, "reducescatter"},
                                            {CollectiveOp::Broadcast, "broadcast"},
                                            {CollectiveOp::Reduce, "reduce"}}};
// As sizing tools call them.
constexpr std::array<NamedOp, 4> kTimedOps{{{CollectiveOp::AllReduce, "all_reduce"},
                                            {CollectiveOp::AllGather, "all_gather"},
                                            {CollectiveOp::ReduceScatter, "reduce_scatter"},
                                            {CollectiveOp::AllToAll, "alltoall"}}};
// Another choice than the library's own must be faster by more than predictions are off: half of them by 8 %.
constexpr double kWorthwhile = 0.9;
constexpr std::int64_t kLargest = 4294967295;  // what the plugin takes for every larger size

std::string plugin_word(std::string_view name) {
  auto const word = lower_case(name);
  if (word == "nvlstree") return "nvls_tree";
  if (word == "collnetdirect") return "collnet_direct";
  if (word == "collnetchain") return "collnet_chain";
  return word;
}

struct TimedChoice {
  std::string algorithm, protocol;
  Seconds time{0};
  friend bool operator==(TimedChoice const& a, TimedChoice const& b) {
    return a.algorithm == b.algorithm && a.protocol == b.protocol;
  }
};

// Nullopt where the library cannot do it so.
std::optional<TimedChoice> choice_of(Model const& model, CollectiveOp op, Bytes bytes, Library const& library) {
  try {
    auto const plan = plan_by_library(model, collective_of_all(model.machine(), op, bytes), library);
    return TimedChoice{plugin_word(plan.library->algorithm), plugin_word(plan.library->protocol),
                       estimate(model, plan.steps).makespan};
  } catch (PlanError const&) {
    return std::nullopt;
  }
}

// The library left to itself, then held to each pair of algorithm and protocol.
std::vector<Model> models_of_choices(Model const& model) {
  std::vector<Model> models{model};
  for (auto const* algorithm : {"Ring", "Tree", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"})
    for (auto const* protocol : {"LL", "LL128", "Simple"}) {
      auto machine = model.machine();
      machine.library_environment["NCCL_ALGO"] = algorithm;
      machine.library_environment["NCCL_PROTO"] = protocol;
      models.emplace_back(std::move(machine));
    }
  return models;
}

// Sizes from `first` on that are alike.
struct SizeRange {
  std::int64_t first = 0;
  TimedChoice best, own;
};

std::vector<SizeRange> size_ranges_of(std::vector<Model> const& models, CollectiveOp op, Library const& library) {
  std::vector<SizeRange> ranges;
  for (std::int64_t bytes = 1024; bytes <= kLargest; bytes *= 2) {
    auto const own = choice_of(models.front(), op, Bytes(bytes), library);
    if (!own) return {};
    auto best = *own;
    for (auto const& model : models)
      if (auto const other = choice_of(model, op, Bytes(bytes), library); other && other->time < best.time)
        best = *other;
    if (best.time > own->time * kWorthwhile) best = *own;
    if (ranges.empty() || !(ranges.back().best == best) || !(ranges.back().own == *own))
      ranges.push_back({ranges.empty() ? 0 : bytes, best, *own});
  }
  return ranges;
}

std::size_t working_nodes(Machine const& machine) {
  return static_cast<std::size_t>(
      std::count_if(machine.hosts.begin(), machine.hosts.end(), [](Host const& host) { return !host.off; }));
}

nlohmann::ordered_json limit_json(double expected, double at_least) {
  return {{"expected_GBps", gigabytes_per_second(BytesPerSecond(expected))},
          {"at_least_GBps", gigabytes_per_second(BytesPerSecond(at_least))}};
}

// Nullopt where the library does not do this op.
std::optional<Plan> plan_if_possible(Model const& model, Collective const& collective, Library const& library) {
  try {
    return plan_by_library(model, collective, library);
  } catch (PlanError const&) {
    return std::nullopt;
  }
}
// Throws the library's PlanError where it does not run on this machine at all.
void require_library(Model const& model, Library const& library) {
  plan_by_library(model, collective_of_all(model.machine(), CollectiveOp::AllReduce, Bytes(1 << 20)), library);
}

nlohmann::ordered_json collective_limits(Model const& model, Library const& library) {
  Intervals const intervals(model);
  auto rows = nlohmann::ordered_json::array();
  for (auto const op : {CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter,
                        CollectiveOp::AllToAll, CollectiveOp::Broadcast})
    for (std::int64_t bytes = 1 << 20; bytes <= std::int64_t{8} << 30; bytes *= 8) {
      auto const collective = collective_of_all(model.machine(), op, Bytes(bytes));
      auto const plan = plan_if_possible(model, collective, library);
      if (!plan) continue;
      auto const rate = [&](Model const& other) {
        return bus_bandwidth(collective, estimate(other, plan->steps).makespan).value();
      };
      auto const range = intervals.of(rate, parameters_of(*plan, model));
      nlohmann::ordered_json row{{"op", to_string(op)},
                                 {"bytes", bytes},
                                 {"algorithm", plan->library->algorithm},
                                 {"protocol", plan->library->protocol}};
      row.update(limit_json(rate(model), range.low));
      rows.push_back(std::move(row));
    }
  return rows;
}

nlohmann::ordered_json copy_limits(Model const& model) {
  auto const& machine = model.machine();
  Planner const planner(model);
  Intervals const intervals(model);
  auto rows = nlohmann::ordered_json::array();
  auto const add = [&](std::string_view test, Place const& from, Place const& to) {
    Request request{"", from, to, Bytes(std::int64_t{512} << 20)};
    if (std::holds_alternative<NumaId>(from) || std::holds_alternative<NumaId>(to)) request.only = Mechanism::HostDma;
    auto const choice = planner.choose(request);
    if (!choice.chosen) return;
    auto const& evaluated = choice.evaluated[*choice.chosen];
    auto const range = time_range(intervals, request, evaluated.way);
    if (!evaluated.cost || !range) return;
    nlohmann::ordered_json row{{"test", test}, {"from", machine.name_of(from)}, {"to", machine.name_of(to)}};
    row.update(limit_json((request.bytes / evaluated.cost->time).value(), (request.bytes / range->high).value()));
    rows.push_back(std::move(row));
  };
  auto const gpus = machine.all(PciKind::Gpu);
  for (auto const gpu : gpus) {
    add("host_to_device_memcpy_ce", machine.numa_of(gpu), gpu);
    add("device_to_host_memcpy_ce", gpu, machine.numa_of(gpu));
    for (auto const other : gpus)
      if (other != gpu && machine.host_of(other) == machine.host_of(gpu))
        add("device_to_device_memcpy_write_ce", gpu, other);
  }
  return rows;
}

}  // namespace

std::string nccl_tuner_table(Model const& model, Library const& library) {
  auto const& machine = model.machine();
  auto const ranks = machine.all(PciKind::Gpu).size();
  auto const nodes = working_nodes(machine);
  auto text = fmt::format(
      "# What takes least time on {} among {} GPUs of {} node{}, of what {} can do\n"
      "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n",
      machine.name, ranks, nodes, nodes == 1 ? "" : "s", to_string(library));
  if (library.kind != LibraryKind::Nccl)
    throw PlanError(fmt::format("a tuner plugin is NCCL's; {} has none", to_string(library)));
  require_library(model, library);
  auto const models = models_of_choices(model);
  for (auto const& [op, name] : kTunedOps) {
    auto const ranges = size_ranges_of(models, op, library);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      auto const& [first, best, own] = ranges[i];
      if (!(best == own))
        text += fmt::format("# by itself {} {}, {:.0f} % longer\n", own.algorithm, own.protocol,
                            (own.time / best.time - 1) * 100);
      auto const last = i + 1 < ranges.size() ? ranges[i + 1].first - 1 : kLargest;
      text += fmt::format("{},{},{},{},{},-1,{},{},-1,-1\n", name, first, last, best.algorithm, best.protocol, nodes,
                          ranks);
    }
  }
  return text;
}

nlohmann::ordered_json thresholds_json(Model const& model, Library const& library) {
  auto const& machine = model.machine();
  require_library(model, library);
  return {{"lanewise", "thresholds/1"},
          {"machine", machine.name},
          {"library", to_string(library)},
          {"ranks", machine.all(PciKind::Gpu).size()},
          {"nccl_tests", collective_limits(model, library)},
          {"nvbandwidth", copy_limits(model)}};
}

std::string collective_times_csv(Model const& model, Library const& library) {
  require_library(model, library);
  auto const gpus = collective_of_all(model.machine(), CollectiveOp::AllReduce, Bytes(1)).among;
  std::string_view device = "GPU";
  if (auto const* part = model.machine().part_of(std::get<PciId>(gpus.front()))) device = part->name;
  std::string text = "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n";
  constexpr std::int64_t kBytesOfHalf = 2;
  for (auto const& [op, name] : kTimedOps)
    for (std::size_t count = 2; count <= gpus.size(); count *= 2)
      for (std::int64_t bytes = 512; bytes <= std::int64_t{512} << 20; bytes *= 2) {
        Collective collective{op, {gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(count)}, Bytes(bytes)};
        auto const plan = plan_if_possible(model, collective, library);
        if (!plan) continue;
        text += fmt::format("lanewise,{},{},{},{} {},half,{},{},{:.6f}\n", to_string(library), device, name,
                            plan->library->algorithm, plan->library->protocol, count, bytes / kBytesOfHalf,
                            estimate(model, plan->steps).makespan.value() * 1e3);
      }
  return text;
}

}  // namespace lanewise
