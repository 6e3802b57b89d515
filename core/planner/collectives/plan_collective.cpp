#include "core/planner/collectives/plan_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "core/estimate/demands.hpp"
#include "core/estimate/estimate.hpp"
#include "core/io/error.hpp"
#include "core/machine/fingerprint.hpp"
#include "core/model/resources/figures.hpp"
#include "core/planner/collectives/cut_bounds.hpp"
#include "core/planner/collectives/rings.hpp"
#include "core/planner/planner.hpp"
#include "core/planner/search_limits.hpp"
#include "core/rules/conditions.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

// Beyond this many participants only algorithms whose steps stay few are weighed.
constexpr std::size_t kMaxForRings = 64;
constexpr std::size_t kMaxChunks = 64;

// Who moves what is not added to anything.
enum class Movers : std::uint8_t {
  Fastest,  // a copy engine or a kernel, whichever is through earlier
  Kernels,  // a kernel wherever one can: a GPU has more of them than copy engines
};
constexpr Movers kMovers[] = {Movers::Fastest, Movers::Kernels};

// Ways between participants, each chosen once for each size.
class Lanes {
 public:
  // Of the participants, and behind them the host memories that moves may pass.
  Lanes(Model const& model, Collective const& collective, std::vector<Place> const& places, Movers movers)
      : model_(model), planner_(model), collective_(collective), places_(places), movers_(movers) {}
  // Ways that are settled: of these moves name one.
  void settle(std::vector<Leg> const& legs) {
    settled_.clear();
    for (auto const& leg : legs) settled_.push_back({leg.way, leg.op});
  }

  struct Lane {
    Way way;
    Op op = Op::Copy;
  };
  Lane const& of(TransferSchedule::Transfer const& move) {
    if (move.leg) return settled_[*move.leg];
    auto const [entry, fresh] = lanes_.try_emplace({move.from, move.to, move.bytes.value(), move.reduces});
    if (fresh) entry->second = chosen(move);
    return entry->second;
  }

 private:
  // What is added is added by a kernel: where it can, it reads the other's memory itself, else it works behind the
  // copy, which is one more start and one more pass.
  Lane chosen(TransferSchedule::Transfer const& move) {
    Request request{.id = std::string(to_string(collective_.op)),
                    .from = places_[move.from],
                    .to = places_[move.to],
                    .bytes = move.bytes};
    std::optional<Lane> best;
    Seconds fastest{0};
    std::string refusal = "nothing moves data there";
    bool const through_host = std::max(move.from, move.to) >= collective_.among.size();  // whose mover is the GPU's
    bool const kernel_first = !through_host && (move.reduces || movers_ == Movers::Kernels);
    auto const by_kernel = move.reduces ? Op::Read : Op::Write;
    for (auto const op : {kernel_first ? by_kernel : Op::Copy, kernel_first ? Op::Copy : by_kernel}) {
      if (through_host && op == by_kernel) continue;
      request.op = op;
      auto const choice = choice_of(request);
      if (!choice.chosen) {
        if (choice.evaluated.front().refused_by != nullptr) refusal = choice.evaluated.front().refused_by->id;
        continue;
      }
      auto const& judged = choice.evaluated[*choice.chosen];
      if (!judged.cost || (best && judged.cost->time >= fastest)) continue;
      best = Lane{judged.way, op};
      fastest = judged.cost->time;
      if (kernel_first) break;
    }
    if (!best)
      throw PlanError(fmt::format("{} from '{}' to '{}': {}", to_string(collective_.op),
                                  model_.machine().name_of(request.from), model_.machine().name_of(request.to),
                                  refusal));
    return *best;
  }

  // Participants have their own data to move: none relays for two others that NVLink joins.
  [[nodiscard]] Choice choice_of(Request request) const {
    auto choice = planner_.choose(request);
    if (!choice.chosen) return choice;
    // No core copies within a collective: GPUs do not wait for one.
    if (choice.evaluated[*choice.chosen].way.mechanism == Mechanism::BarCopy) choice.chosen = fastest_by_gpu(choice);
    if (!choice.chosen) return choice;
    auto const& way = choice.evaluated[*choice.chosen].way;
    auto const& among = collective_.among;
    if (way.mechanism != Mechanism::NvlinkRelay ||
        std::find(among.begin(), among.end(), Place(*way.relay)) == among.end())
      return choice;
    request.only = Mechanism::Nvlink;
    auto direct = planner_.choose(request);
    return direct.chosen ? direct : choice;
  }

  static std::optional<std::size_t> fastest_by_gpu(Choice const& choice) {
    std::optional<std::size_t> fastest;
    for (std::size_t i = 0; i < choice.evaluated.size(); ++i) {
      auto const& judged = choice.evaluated[i];
      if (judged.refused_by != nullptr || !judged.cost || judged.way.mechanism == Mechanism::BarCopy) continue;
      if (!fastest || judged.cost->time < choice.evaluated[*fastest].cost->time) fastest = i;
    }
    return fastest;
  }

  Model const& model_;
  Planner planner_;
  Collective const& collective_;
  std::vector<Place> const& places_;
  Movers movers_;
  std::vector<Lane> settled_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, bool>, Lane> lanes_;
};

Plan laid(Model const& model, Collective const& collective, std::vector<Place> const& places, Algorithm algorithm,
          TransferSchedule moves, Lanes& lanes) {
  auto const& machine = model.machine();
  Plan plan{machine.name, fingerprint(machine), {}, {}, {}, collective};
  plan.collective->algorithm = algorithm;
  for (std::size_t i = 0; i < collective.among.size(); ++i)
    plan.buffers.push_back(
        {machine.name_of(collective.among[i]) + ".data", collective.among[i], held_by(collective, i)});
  bool const beside = moves.has_output() || has_outputs(collective.op);
  for (std::size_t i = 0; beside && i < collective.among.size(); ++i)
    plan.buffers.push_back(
        {machine.name_of(collective.among[i]) + ".output", collective.among[i], received_by(collective, i)});
  auto const n = collective.among.size();
  auto const list = moves.take();
  std::map<std::uint32_t, BufferId> of_memory;  // those that something passes
  for (auto m = static_cast<std::uint32_t>(n); m < moves.participants(); ++m) {
    if (std::none_of(list.begin(), list.end(), [&](TransferSchedule::Transfer const& move) { return move.to == m; }))
      continue;
    of_memory.emplace(m, BufferId(plan.buffers.size()));
    plan.buffers.push_back({machine.name_of(places[m]) + ".data", places[m], collective.bytes});
  }
  auto const buffer = [&](std::uint32_t who, TransferSchedule::BufferRole store) {
    if (who >= n) return of_memory.at(who);
    return BufferId(store == TransferSchedule::BufferRole::Data ? who : who + n);
  };
  plan.steps.reserve(list.size());
  std::string const name(to_string(collective.op));
  for (auto const& move : list) {
    auto const& lane = lanes.of(move);
    Step step{name, places[move.from], places[move.to], move.bytes, lane.op, lane.way, {}};
    for (auto const before : move.after) step.after.push_back(StepId(before));
    step.reads = Region{buffer(move.from, move.reads), move.read_at};
    step.writes = Region{buffer(move.to, move.writes), move.write_at};
    step.reduces = move.reduces;
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

void check(Collective const& collective) {
  auto const n = collective.among.size();
  if (n < 2) throw PlanError("a collective has at least two participants");
  if (collective.root >= n) throw PlanError("the root of a collective is one of its participants");
  if (std::set<Place>(collective.among.begin(), collective.among.end()).size() != n)
    throw PlanError("a participant of a collective is named twice");
  constexpr std::int64_t kElement = 16;
  if (collective.op == CollectiveOp::AllToAll &&
      collective.bytes.value() % (kElement * static_cast<std::int64_t>(n)) != 0)
    throw PlanError(fmt::format("all_to_all among {} needs bytes that are a multiple of {}", n,
                                kElement * static_cast<std::int64_t>(n)));
  if (collective.op != CollectiveOp::AllToAllV) return;
  bool const square = collective.sizes.size() == n && std::all_of(collective.sizes.begin(), collective.sizes.end(),
                                                                  [&](auto const& row) { return row.size() == n; });
  if (!square) throw PlanError(fmt::format("all_to_all_v among {} needs {} rows of {} sizes", n, n, n));
}

// The participants by their own host memories, in order; none where one is no GPU or of another node.
std::vector<NearMemory> memories_near(Machine const& machine, Collective const& collective) {
  std::map<NumaId, std::vector<std::size_t>> by_memory;
  for (std::size_t i = 0; i < collective.among.size(); ++i) {
    auto const gpu = gpu_at(machine, collective.among[i]);
    if (!gpu || machine.host_of(*gpu) != machine.host_of(collective.among.front())) return {};
    by_memory[machine.numa_of(*gpu)].push_back(i);
  }
  std::vector<NearMemory> near;
  for (auto& [memory, participants] : by_memory) near.push_back({memory, std::move(participants)});
  return near;
}

struct WeighedAlgorithm {
  Plan plan;
  Seconds time{0};
};

// What a collective moves was made by a kernel, and what it brings is for one: copies at its beginning wait for their
// engines, and whoever goes on waits by events for the copies of other GPUs. A run, which is the collective alone, is
// not that much longer; kernels tell one another within it.
Seconds between_kernels(Model const& model, std::vector<Step> const& steps) {
  Seconds before{0};
  Seconds behind{0};
  for (auto const& step : steps) {
    auto const gpu = gpu_at(model.machine(), step.from);
    if (!gpu || step.from == step.to || by_kernel(step.op)) continue;
    auto const* part = model.machine().part_of(*gpu);
    if (step.after.empty()) before = std::max(before, figures::engine_change(part));
    if (gpu_at(model.machine(), step.to)) behind = std::max(behind, figures::chunk_gap(part));
  }
  return (before + behind) * model.assumed()(Parameter::EngineStart);
}

// What is worth weighing among so many: what has few steps.
bool worth_weighing(Algorithm algorithm, Collective const& collective) {
  if (collective.among.size() <= kMaxForRings) return true;
  switch (algorithm) {
    case Algorithm::Hierarchical:
    case Algorithm::HalvingDoubling: return true;
    case Algorithm::Direct: return collective.op == CollectiveOp::Scatter || collective.op == CollectiveOp::Gather;
    case Algorithm::Tree: return collective.op == CollectiveOp::Broadcast;
    default: return false;
  }
}

// A chain whose pieces are left open is tried in any power of two of them; what is open no longer is.
std::vector<Collective> settled(Collective const& collective) {
  if (collective.op != CollectiveOp::Chain || collective.pieces > 0) return {collective};
  std::vector<Collective> all;
  for (std::size_t pieces = 1; pieces <= kMaxChunks; pieces *= 2) {
    all.push_back(collective);
    all.back().pieces = pieces;
  }
  return all;
}

// Plans of one collective by several algorithms.
class Weighing {
 public:
  Weighing(Model const& model, Collective const& collective)
      : model_(model), collective_(collective), layout_(layout_of(model, collective)), places_(collective.among) {
    for (auto const& near : layout_.near) places_.emplace_back(near.memory);
    for (auto const movers : kMovers)
      if (movers == Movers::Fastest || collective.among.size() <= kMaxForRings)
        lanes_.emplace_back(model, collective, places_, movers);
  }

  void weigh_all(std::function<bool(Algorithm)> const& is_wanted) {
    for (auto const algorithm : {Algorithm::Direct, Algorithm::Ring, Algorithm::Tree, Algorithm::HalvingDoubling,
                                 Algorithm::Hierarchical, Algorithm::ThroughHost})
      if (is_wanted(algorithm))
        for (auto const& one : settled(collective_))
          for (auto const& moves : schedules_of(one, algorithm, layout_)) weigh(one, algorithm, moves);
  }

  // Whether packed trees may help: data flow for longer than they take to start, and no algorithm so far is close to
  // what must leave and reach each participant.
  [[nodiscard]] bool is_worth_packing() const {
    constexpr Bytes kLeastBytes{std::int64_t{4} << 20};
    constexpr double kClose = 1.03;
    if (collective_.bytes < kLeastBytes || plans_.empty() || !can_be_packed(collective_, participants())) return false;
    Seconds least{0};
    for (auto const& cut : cut_bounds(collective_, model_)) least = std::max(least, cut.time);
    return best_time() > kClose * least;
  }
  // Over the participants alone, and over host memory, which must be worth it where NVLink joins them all.
  void weigh_packed_trees() {
    bool const joined = nvlink_islands(model_.machine(), collective_.among).size() < 2;
    if (joined) weigh_trees_over(participants(), best_time());
    auto const enough = joined ? best_time() * (1 / (1 + kSearchLimits.min_host_path_gain)) : best_time();
    if (places_.size() > collective_.among.size())
      weigh_trees_over({places_, collective_.among.size()},
                       collective_.algorithm == Algorithm::Auto ? enough : kForever);
  }

  [[nodiscard]] bool found_none() const { return plans_.empty(); }
  std::vector<WeighedAlgorithm> take() && {
    std::stable_sort(plans_.begin(), plans_.end(), [](auto const& a, auto const& b) { return a.time < b.time; });
    return std::move(plans_);
  }

 private:
  static constexpr Seconds kForever{std::numeric_limits<double>::infinity()};

  [[nodiscard]] Seconds best_time() const {
    auto best = kForever;
    for (auto const& plan : plans_) best = std::min(best, plan.time);
    return best;
  }

  // Whether kernels may go through host memory: over PCIe, those that read and write it beside others are slow. On 2 x
  // H200 one GPU's moved 71 GB/s both ways where its copy engines move 97, and an all_gather took twice as predicted.
  [[nodiscard]] bool reaches_host_by_nvlink(Sites const& sites) const {
    return sites.places.size() > sites.participants &&
           std::all_of(collective_.among.begin(), collective_.among.end(), [&](Place const& place) {
             auto const gpu = gpu_at(model_.machine(), place);
             return gpu && cpu_link(model_.machine(), *gpu);
           });
  }

  [[nodiscard]] Sites participants() const { return {collective_.among, collective_.among.size()}; }

  // In several styles: which is best shows when they run, and it alone stays. The figures are of those tried on the
  // bundled machines the ones without which some plan was clearly worse. Plans that take `enough` are of no use.
  void weigh_trees_over(Sites const& sites, Seconds enough) {
    auto const before = plans_.size();
    auto layout = layout_;
    struct ByKernels {
      bool between_gpus, through_host;
    };
    constexpr std::array<ByKernels, 3> kStyles{{{false, false}, {true, false}, {true, true}}};
    for (auto const& by_kernels : kStyles) {
      if (by_kernels.through_host && !reaches_host_by_nvlink(sites)) continue;
      PackingStyle const style{by_kernels.between_gpus, by_kernels.through_host, {0.01, 0.1, 0.5}, enough};
      for (auto& packing : packed_trees(collective_, sites, model_, style)) {
        layout.packing = std::move(packing);
        lanes_.front().settle(layout.packing->legs);
        for (auto const pieces : {std::size_t{8}, std::size_t{16}, std::size_t{32}}) {
          layout.chunks = pieces;
          for (auto const& moves : schedules_of(collective_, Algorithm::PackedTrees, layout))
            weigh(collective_, Algorithm::PackedTrees, moves, enough);
        }
      }
    }
    if (plans_.size() <= before + 1) return;
    auto const first = plans_.begin() + static_cast<std::ptrdiff_t>(before);
    std::iter_swap(first,
                   std::min_element(first, plans_.end(), [](auto const& a, auto const& b) { return a.time < b.time; }));
    plans_.erase(first + 1, plans_.end());
  }

  void weigh(Collective const& one, Algorithm algorithm, TransferSchedule const& moves, Seconds enough = kForever) {
    // Through host memory copy engines move most anyway, and trees say who moves what.
    bool const as_is = algorithm == Algorithm::ThroughHost || algorithm == Algorithm::PackedTrees;
    std::optional<WeighedAlgorithm> best;
    for (auto& with : lanes_) {
      if (best && as_is) break;
      auto plan = laid(model_, one, places_, algorithm, moves, with);
      auto const time = estimate(model_, plan.steps).makespan + between_kernels(model_, plan.steps);
      constexpr double kClearlyFaster = 1e-3;
      if (!best || time < (1 - kClearlyFaster) * best->time) best = WeighedAlgorithm{std::move(plan), time};
    }
    if (best->time < enough) plans_.push_back(std::move(*best));
  }

  Model const& model_;
  Collective const& collective_;
  ParticipantLayout layout_;
  std::vector<Place> places_;
  std::vector<Lanes> lanes_;
  std::vector<WeighedAlgorithm> plans_;
};

std::vector<WeighedAlgorithm> weighed(Model const& model, Collective const& collective) {
  check(collective);
  Weighing weighing(model, collective);
  bool const open = collective.algorithm == Algorithm::Auto;
  weighing.weigh_all([&](Algorithm algorithm) {
    return open ? worth_weighing(algorithm, collective) : algorithm == collective.algorithm;
  });
  // What is worth weighing among many may not do this one at all.
  if (open && weighing.found_none()) weighing.weigh_all([](Algorithm) { return true; });
  if (open ? weighing.is_worth_packing() : collective.algorithm == Algorithm::PackedTrees)
    weighing.weigh_packed_trees();
  auto plans = std::move(weighing).take();
  if (plans.empty() && collective.algorithm == Algorithm::PackedTrees && !linear_solver())
    throw PlanError("packed_trees needs a linear solver, which this build has not (package coinor-libclp-dev)");
  if (plans.empty())
    throw PlanError(fmt::format("{} does not do {} among these {}", to_string(collective.algorithm),
                                to_string(collective.op), collective.among.size()));
  return plans;
}

}  // namespace

ParticipantLayout layout_of(Model const& model, Collective const& collective) {
  auto const& machine = model.machine();
  ParticipantLayout layout;
  if (collective.among.size() <= kMaxForRings)
    layout.rings = disjoint_rings(machine, collective.among);
  else
    layout.rings = {{}};
  if (layout.rings.front().empty())
    for (std::size_t i = 0; i < collective.among.size(); ++i) layout.rings.front().push_back(i);
  std::map<HostId, std::vector<std::size_t>> hosts;
  for (std::size_t i = 0; i < collective.among.size(); ++i) hosts[machine.host_of(collective.among[i])].push_back(i);
  for (auto& [host, members] : hosts) layout.groups.push_back(std::move(members));
  if (layout.groups.size() == 1) layout.groups = nvlink_islands(machine, collective.among);
  layout.near = memories_near(machine, collective);
  // A chain of n - 1 links with latency l and rate r is through after (n - 2 + c) (l + b / (c r)): least for this c.
  auto const& order = layout.rings.front();
  auto const choice = Planner(model).choose(
      {.from = collective.among[order[0]], .to = collective.among[order[1]], .bytes = collective.bytes});
  if (choice.chosen && choice.evaluated[*choice.chosen].cost) {
    auto const& cost = *choice.evaluated[*choice.chosen].cost;
    auto const flowing = collective.bytes / cost.rate;
    auto const latency = std::max(cost.time - flowing, Seconds(1e-9));
    auto const depth = static_cast<double>(collective.among.size()) - 1;
    layout.chunks = static_cast<std::size_t>(
        std::clamp(std::sqrt(depth * (flowing / latency)), 1.0, static_cast<double>(kMaxChunks)));
  }
  return layout;
}

std::vector<Plan> plans_of_collective(Model const& model, Collective const& collective) {
  std::vector<Plan> plans;
  for (auto& entry : weighed(model, collective)) plans.push_back(std::move(entry.plan));
  return plans;
}

Plan plan_collective(Model const& model, Collective const& collective) {
  auto plan = std::move(weighed(model, collective).front().plan);
  plan.verify(model.machine());
  return plan;
}

}  // namespace lanewise
