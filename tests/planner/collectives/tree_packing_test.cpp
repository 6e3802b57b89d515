// The cheapest arborescence against all there are; packed trees: what they carry, and what no plan beats.
#include "core/planner/collectives/trees/tree_packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/estimate/estimate.hpp"
#include "core/machine/catalogue.hpp"
#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/collectives/check.hpp"
#include "core/planner/collectives/plan_collective.hpp"
#include "core/planner/collectives/trees/arborescence.hpp"
#include "core/planner/collectives/trees/list_scheduler.hpp"
#include "core/planner/collectives/trees/packed_schedule.hpp"
#include "core/solver/linear_program.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;

// Whether everyone comes from the root, and what the edges cost.
std::optional<double> cost_of(EdgeCosts const& costs, std::vector<std::size_t> const& parents, std::size_t root) {
  double sum = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    auto here = i;
    for (std::size_t hops = 0; here != root; here = parents[here])
      if (++hops > parents.size()) return std::nullopt;
    if (i != root) sum += costs[parents[i]][i];
  }
  return sum;
}

double cheapest_of_all(EdgeCosts const& costs, std::size_t root) {
  auto const n = costs.size();
  std::vector<std::size_t> parents(n, 0);
  auto best = kNoEdge;
  for (;;) {
    if (auto const cost = cost_of(costs, parents, root)) best = std::min(best, *cost);
    std::size_t digit = 0;
    while (digit < n && ++parents[digit] == n) parents[digit++] = 0;
    if (digit == n) return best;
  }
}

// Edges of up to 9, and none where it would be `missing` or less.
EdgeCosts random_costs(std::mt19937& random, std::size_t n, int missing) {
  std::uniform_int_distribution<int> cost(0, 9);
  EdgeCosts costs(n, std::vector<double>(n, kNoEdge));
  for (auto& row : costs)
    for (auto& entry : row)
      if (auto const value = cost(random); value > missing) entry = value;
  return costs;
}

TEST(CheapestArborescence, CostsAsLittleAsTheBestOfAll) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same graphs every time
  for (int graph = 0; graph < 60; ++graph) {
    std::size_t const n = 2 + static_cast<std::size_t>(graph) % 4;
    auto const costs = random_costs(random, n, 1);
    auto const root = static_cast<std::size_t>(graph) % n;
    auto const best = cheapest_of_all(costs, root);
    auto const found = cheapest_arborescence(costs, root);
    ASSERT_EQ(found.has_value(), best < kNoEdge) << graph;
    if (found) {
      EXPECT_EQ(cost_of(costs, *found, root), best) << graph;
    }
  }
}

TEST(ShortestPaths, AreAsShortAsThereAre) {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same graphs every time
  constexpr double kHop = 0.5;
  for (int graph = 0; graph < 60; ++graph) {
    std::size_t const n = 3 + static_cast<std::size_t>(graph) % 4;
    auto const costs = random_costs(random, n, 3);
    auto shortest = costs;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) shortest[i][j] = i == j ? 0 : costs[i][j] + kHop;
    for (std::size_t via = 0; via < n; ++via)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          shortest[i][j] = std::min(shortest[i][j], shortest[i][via] + shortest[via][j]);
    auto const wanted = n - 1;  // the last may be passed, or not
    auto const found = shortest_paths(costs, 0, kHop, wanted);
    bool const all_reached = std::all_of(shortest[0].begin(), shortest[0].begin() + static_cast<std::ptrdiff_t>(wanted),
                                         [](double distance) { return distance < kNoEdge; });
    ASSERT_EQ(found.has_value(), all_reached) << graph;
    if (!found) continue;
    std::map<std::size_t, double> distance{{0, 0}};
    bool last_goes_on = false;
    for (auto const& [from, to] : *found) {
      ASSERT_TRUE(distance.contains(from)) << graph;
      last_goes_on = last_goes_on || from == wanted;
      EXPECT_TRUE(distance.emplace(to, distance[from] + costs[from][to] + kHop).second) << graph;
    }
    for (std::size_t i = 0; i < wanted; ++i) EXPECT_DOUBLE_EQ(distance.at(i), shortest[0][i]) << graph;
    EXPECT_EQ(distance.contains(wanted), last_goes_on) << graph;
  }
}

Leg capped_leg(std::uint32_t from, std::uint32_t to, BytesPerSecond cap = BytesPerSecond(1e9)) {
  return {from, to, {}, Op::Copy, {}, {}, cap};
}

// Two trees of 0 share the leg to 1: by one the pieces go on from there to 2, by the other they do not.
TEST(PackedMoves, WhatHasFarToGoGoesFirst) {
  Packing const packing{{capped_leg(0, 1), capped_leg(1, 2), capped_leg(0, 2)},
                        {{0, 1 << 20, {0, 2}}, {0, 1 << 20, {0, 1}}, {0, 1 << 20, {2, 0}}}};
  Collective const broadcast{
      CollectiveOp::Broadcast, {Place(PciId(0)), Place(PciId(1)), Place(PciId(2))}, 3_MiB, Algorithm::PackedTrees, 0};
  auto const moves = packed_schedule(broadcast, packing, 0, 12);
  std::vector<std::uint32_t> legs(3, 0);
  std::optional<Bytes> first;
  for (auto const& move : moves.list()) {
    ++legs[*move.leg];
    if (*move.leg == 0 && !first) first = move.read_at;
    // On each leg whoever is later waits.
    EXPECT_EQ(move.after.empty(), legs[*move.leg] == 1 && *move.leg != 1) << *move.leg;
  }
  // Trees that nobody passes on go whole; of the other's four pieces the first goes before them.
  EXPECT_EQ(legs, (std::vector<std::uint32_t>{6, 4, 2}));
  EXPECT_EQ(first, 1_MiB);
}

// The second leg is a third as fast: when it is free again, three pieces are there.
TEST(PackedMoves, WhatGoesOnNowhereGoesAsOneWithWhatIsThere) {
  Packing const packing{{capped_leg(0, 1), capped_leg(1, 2, BytesPerSecond(0.33e9))}, {{0, 1 << 20, {0, 1}}}};
  Collective const broadcast{
      CollectiveOp::Broadcast, {Place(PciId(0)), Place(PciId(1)), Place(PciId(2))}, 1_MiB, Algorithm::PackedTrees, 0};
  std::vector<std::vector<Bytes>> sent(2);
  Bytes end{0};
  auto const moves = packed_schedule(broadcast, packing, 0, 8);
  for (auto const& move : moves.list()) {
    sent[*move.leg].push_back(move.bytes);
    if (*move.leg == 0) continue;
    EXPECT_EQ(move.read_at, end);
    end += move.bytes;
  }
  EXPECT_EQ(sent[0], std::vector<Bytes>(8, 128_KiB));
  EXPECT_EQ(sent[1], (std::vector<Bytes>{128_KiB, 384_KiB, 512_KiB}));
}

// In seconds: hops of a gigabyte on legs of 1 GB/s.
std::vector<double> starts_of(Packing const& packing, std::vector<ScheduledHop> hops) {
  for (auto& hop : hops) hop.bytes = 1e9;
  std::vector<double> starts(hops.size());
  for (auto const& hop : list_schedule(packing, hops)) starts[hop.cell] = hop.start.value();
  return starts;
}

// What 0 sends to 1 goes on to 3, while 0 sends something else to 2.
TEST(SentHops, ShareWhatTheirLegsShare) {
  Packing packing{{capped_leg(0, 1), capped_leg(0, 2), capped_leg(1, 3)}, {}, {1e9}};
  std::vector<ScheduledHop> const hops{
      {.cell = 0, .leg = 0, .ahead = 1}, {.cell = 1, .leg = 1}, {.cell = 2, .leg = 2, .brought = 0}};
  EXPECT_EQ(starts_of(packing, hops), (std::vector<double>{0, 0, 1}));
  for (std::size_t leg = 0; leg < 2; ++leg) packing.legs[leg].uses = {{0, 1}};
  EXPECT_NEAR(starts_of(packing, hops)[2], 2, 1e-6);
  packing.legs[0].handover = Seconds(0.9);  // meanwhile the other has the port to itself
  EXPECT_NEAR(starts_of(packing, hops)[2], 0.9 + 0.2 + 0.9, 1e-6);
  packing.legs[0].handover = Seconds(3);
  EXPECT_NEAR(starts_of(packing, hops)[2], 4, 1e-6);
}

TEST(SentHops, WaitForTheirEngines) {
  Packing packing{{capped_leg(0, 1), capped_leg(0, 2), capped_leg(0, 3)}, {}, {2}};
  for (auto& leg : packing.legs) leg.engines = {0};
  std::vector<ScheduledHop> const hops{{.cell = 0, .leg = 0}, {.cell = 1, .leg = 1}, {.cell = 2, .leg = 2}};
  EXPECT_EQ(starts_of(packing, hops), (std::vector<double>{0, 0, 1}));
}

Collective all_gather(Machine const& machine, Bytes bytes) {
  Collective collective{CollectiveOp::AllGather, {}, bytes, Algorithm::Auto, 0};
  for (auto const gpu : machine.all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  return collective;
}

class PackedTrees : public testing::Test {
 protected:
  PackedTrees() : model_(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("h100-pcie-x8")) {}
  void SetUp() override {
    if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  }
  [[nodiscard]] Sites gpus_and_memories() const {
    auto const among = collective_.among;
    Sites sites{among, among.size()};
    for (std::size_t m = 0; m < model_.machine().numa_nodes.size(); ++m) sites.places.emplace_back(NumaId(m));
    return sites;
  }
  Model model_;
  Collective collective_ = all_gather(model_.machine(), 512_MiB);
};

TEST_F(PackedTrees, CarryEverythingToEveryone) {
  auto const packings = packed_trees(collective_, gpus_and_memories(), model_,
                                     {.by_kernels = true, .setup_cost_weights = {0.5}, .time_limit = Seconds(1)});
  ASSERT_EQ(packings.size(), 1U);
  auto const* packing = &packings.front();
  std::vector<double> carried(8);
  for (auto const& tree : packing->trees) {
    carried[tree.root] += tree.bytes;
    std::set<std::uint32_t> reached{static_cast<std::uint32_t>(tree.root)};
    for (auto const id : tree.legs) {
      auto const& leg = packing->legs[id];
      EXPECT_TRUE(reached.contains(leg.from));
      EXPECT_TRUE(reached.insert(leg.to).second);
    }
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) EXPECT_TRUE(reached.contains(gpu));
  }
  for (auto const bytes : carried) EXPECT_NEAR(bytes, 64 << 20, 1);
}

TEST_F(PackedTrees, GoThroughHostMemoryByWhatTheirStyleSays) {
  for (bool const by_kernels : {false, true}) {
    auto const packings = packed_trees(
        collective_, gpus_and_memories(), model_,
        {.by_kernels = true, .host_by_kernels = by_kernels, .setup_cost_weights = {0.5}, .time_limit = Seconds(1)});
    ASSERT_EQ(packings.size(), 1U);
    auto const& packing = packings.front();
    std::size_t through_host = 0;
    for (auto const& tree : packing.trees)
      for (auto const id : tree.legs) {
        auto const& leg = packing.legs[id];
        bool const to_memory = leg.to >= 8;
        if (!to_memory && leg.from < 8) continue;
        ++through_host;
        EXPECT_EQ(leg.op, !by_kernels ? Op::Copy : to_memory ? Op::Write : Op::Read);
      }
    EXPECT_GT(through_host, 0U);
  }
}

TEST_F(PackedTrees, AreNoneThatTakeTooLong) {
  auto const bound = packing_bound(collective_, gpus_and_memories(), model_);
  ASSERT_TRUE(bound);
  PackingStyle const style{.by_kernels = false, .setup_cost_weights = {0.5}, .time_limit = bound->makespan * 0.99};
  EXPECT_TRUE(packed_trees(collective_, gpus_and_memories(), model_, style).empty());
}

// Each switch takes what the other's GPUs have, once: 4 x 64 MiB and the headers through one Gen5 port.
TEST_F(PackedTrees, AreBoundByThePortBetweenTheSwitches) {
  auto const bound = packing_bound(collective_, gpus_and_memories(), model_);
  ASSERT_TRUE(bound);
  Collective half = collective_;
  half.bytes = 256_MiB;
  EXPECT_NEAR(packing_bound(half, gpus_and_memories(), model_)->makespan / bound->makespan, 0.5, 0.01);
  double shares = 0;
  for (auto const& part : bound->binding) shares += part.share;
  EXPECT_NEAR(shares, 1, 1e-6);
  auto const port =
      model_.capacity(model_.resources().link_above(*model_.machine().find_function("sw1")).direction.down);
  EXPECT_GE(bound->makespan, 256_MiB / *port);
  EXPECT_LE(bound->makespan, (256_MiB / *port) * 1.1);
}

// Four H100 joined directly: one peer copy engine each, and kernels are slower.
TEST_F(PackedTrees, AreBoundByTheEnginesThatThereAre) {
  Model const model(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("hgx-h100-4gpu"));
  auto const gathered = all_gather(model.machine(), 256_MiB);
  auto const bound = packing_bound(gathered, {gathered.among, gathered.among.size()}, model);
  ASSERT_TRUE(bound);
  EXPECT_TRUE(std::any_of(bound->binding.begin(), bound->binding.end(),
                          [](LowerBound::Part const& part) { return part.name.ends_with("peer_copy_engines"); }));
}

// From one GPU to another over four links of 25 GB/s at 0.9: 2.7 us until anything flows, and then all of it.
TEST_F(PackedTrees, AreBoundByTheStartAndTheRateOfTheOnlyLeg) {
  Model const model(
      test::machine_of({.more_gpu = "copy_engines: 3", .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 4}"}));
  for (auto const bytes : {Bytes(16), 1_MiB, 64_MiB}) {
    Collective const broadcast{CollectiveOp::Broadcast,
                               {model.machine().place("gpu0"), model.machine().place("gpu1")},
                               bytes,
                               Algorithm::Auto,
                               0};
    auto const bound = packing_bound(broadcast, {broadcast.among, 2}, model);
    ASSERT_TRUE(bound);
    auto const expected = 2.7_us + bytes / BytesPerSecond(90e9);
    EXPECT_NEAR(bound->makespan / expected, 1, 1e-4) << bytes.value();
  }
}

// Next to nothing takes as long as its first step takes to start.
TEST_F(PackedTrees, AreBoundByWhatStepsTakeToStart) {
  auto next_to_nothing = collective_;
  next_to_nothing.bytes = Bytes(8 * 16);
  auto const bound = packing_bound(next_to_nothing, gpus_and_memories(), model_);
  ASSERT_TRUE(bound);
  auto const time = estimate(model_, plan_collective(model_, next_to_nothing).steps).makespan;
  EXPECT_GT(bound->makespan, 1.0_us);
  EXPECT_LE(bound->makespan, time);
}

// Rings and halves cross between switches and sockets more often than they must, or leave ports idle.
TEST_F(PackedTrees, BeatAlgorithmsThatKnowNoMachine) {
  auto const plan = plan_collective(model_, collective_);
  EXPECT_EQ(plan.collective->algorithm, Algorithm::PackedTrees);
  EXPECT_FALSE(fault_of(plan));
  auto const taken = [&](Algorithm algorithm) {
    auto fixed = collective_;
    fixed.algorithm = algorithm;
    return estimate(model_, plan_collective(model_, fixed).steps).makespan;
  };
  auto const packed = taken(Algorithm::PackedTrees);
  for (auto const other : {Algorithm::Ring, Algorithm::Direct, Algorithm::Hierarchical, Algorithm::ThroughHost})
    EXPECT_LT(packed * 1.3, taken(other)) << to_string(other);
  EXPECT_GE(packed, packing_bound(collective_, gpus_and_memories(), model_)->makespan);
}

// Chunks end at whole elements, whatever the number of bytes, and however few there are.
TEST_F(PackedTrees, LoseNoByteOfAnyNumber) {
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::Broadcast})
    for (auto const bytes : {1, 8, 17, 63, 999, 12'345, 1'000'003}) {
      auto odd = collective_;
      odd.op = op;
      odd.bytes = Bytes(bytes);
      odd.algorithm = Algorithm::PackedTrees;
      auto const plan = plan_collective(model_, odd);
      EXPECT_FALSE(plan.steps.empty()) << bytes;
      EXPECT_EQ(fault_of(plan).value_or(""), "") << to_string(op) << " of " << bytes;
    }
}

// A fourteenth of 61 MiB times seven, as a double, is less than half of them.
TEST(PackedMoves, PartsBeginWhereTheirRootsHaveThem) {
  constexpr std::uint32_t kCount = 14;
  Collective gathered{CollectiveOp::AllGather, {}, Bytes(std::int64_t{61} << 20), Algorithm::PackedTrees, 0};
  Packing packing;
  for (std::uint32_t from = 0; from < kCount; ++from) {
    gathered.among.emplace_back(PciId(from));
    PackedTree tree{from, 1, {}};
    for (std::uint32_t to = 0; to < kCount; ++to) {
      if (to == from) continue;
      tree.legs.push_back(static_cast<std::uint32_t>(packing.legs.size()));
      packing.legs.push_back(capped_leg(from, to));
    }
    packing.trees.push_back(tree);
  }
  auto const bytes = static_cast<double>(gathered.bytes.value());
  auto const moves = packed_schedule(gathered, packing, 0, 8);
  ASSERT_EQ(moves.list().size(), kCount * (kCount - 1));
  for (auto const& move : moves.list())
    EXPECT_EQ(move.read_at, TransferSchedule::whole_elements(bytes * move.from / kCount)) << move.from;
}

// Of host memories a plan has only those that it uses.
TEST_F(PackedTrees, TakeNoBufferThatNobodyPasses) {
  Model const mesh(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("dgx-1-v100"));
  auto gathered = all_gather(mesh.machine(), 512_MiB);
  gathered.algorithm = Algorithm::PackedTrees;
  auto const plan = plan_collective(mesh, gathered);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    auto const uses = [&](Step const& step) { return step.writes->buffer == BufferId(i); };
    EXPECT_TRUE(std::any_of(plan.steps.begin(), plan.steps.end(), uses)) << plan.buffers[i].name;
  }
}

// Two of different nodes have no trees but their NICs, and what bounds a transfer bounds them.
TEST_F(PackedTrees, LeaveTheBoundBetweenNodesAsItIs) {
  Model const cluster(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("hgx-h100-2"));
  auto const& machine = cluster.machine();
  Collective const broadcast{
      CollectiveOp::Broadcast, {machine.place("node0/gpu0"), machine.place("node1/gpu0")}, 256_MiB, Algorithm::Auto, 0};
  auto const time = estimate(cluster, plan_collective(cluster, broadcast).steps).makespan;
  auto const bound = collective_bound(broadcast, cluster);
  ASSERT_TRUE(bound);
  EXPECT_LT(bound->gap(time), 0.2);
}

TEST_F(PackedTrees, DoBroadcastsAndNoReductions) {
  auto broadcast = collective_;
  broadcast.op = CollectiveOp::Broadcast;
  broadcast.root = 3;
  broadcast.algorithm = Algorithm::PackedTrees;
  auto const plan = plan_collective(model_, broadcast);
  EXPECT_FALSE(fault_of(plan));
  broadcast.op = CollectiveOp::AllReduce;
  EXPECT_TRUE(
      packed_trees(broadcast, gpus_and_memories(), model_, {.setup_cost_weights = {0.5}, .time_limit = Seconds(1)})
          .empty());
}

}  // namespace
}  // namespace lanewise
