// Packed trees: what they carry, how long it takes, and what no plan beats.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/bounds/packing_bound.hpp"
#include "core/planner/collectives/check.hpp"
#include "core/planner/collectives/trees/tree_packing.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/planner/collectives/collective_cases.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;

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

TEST_F(PackedTrees, GoThroughHostMemoryAsTheirStyleSays) {
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

TEST_F(PackedTrees, AreNoneBeyondTheTimeLimit) {
  auto const bound = packing_bound(collective_, gpus_and_memories(), model_);
  ASSERT_TRUE(bound);
  PackingStyle const style{.by_kernels = false, .setup_cost_weights = {0.5}, .time_limit = bound->makespan * 0.99};
  EXPECT_TRUE(packed_trees(collective_, gpus_and_memories(), model_, style).empty());
}

// Each switch receives the data of the other's GPUs once: 4 x 64 MiB and headers through one Gen5 port.
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

// Four GPUs joined directly, with one copy engine each, and kernels are slower. NVIDIA's would have one for each link.
TEST_F(PackedTrees, AreBoundByTheirEngines) {
  auto machine = Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("hgx-h100-4gpu");
  for (auto& part : machine.parts) {
    if (part.kind != PartKind::Gpu) continue;
    part.gpu.vendor = "amd";
    part.gpu.copy_engines = 1;
    part.gpu.peer_copy_engines.reset();
  }
  Model const model(std::move(machine));
  auto const gathered = all_gather(model.machine(), 256_MiB);
  auto const bound = packing_bound(gathered, {gathered.among, gathered.among.size()}, model);
  ASSERT_TRUE(bound);
  EXPECT_TRUE(std::any_of(bound->binding.begin(), bound->binding.end(),
                          [](LowerBound::Part const& part) { return part.name.ends_with("copy_engines"); }));
}

// From one GPU to another over four links of 25 GB/s at 0.9: nothing flows for 2.7 us, then everything.
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

// A few bytes take as long as the first step takes to start.
TEST_F(PackedTrees, AreBoundByTheStartOfSteps) {
  auto few_bytes = collective_;
  few_bytes.bytes = Bytes(8 * 16);
  auto const bound = packing_bound(few_bytes, gpus_and_memories(), model_);
  ASSERT_TRUE(bound);
  auto const time = estimate(model_, plan_collective(model_, few_bytes).steps).makespan;
  EXPECT_GT(bound->makespan, 1.0_us);
  EXPECT_LE(bound->makespan, time);
}

// Rings and halving cross between switches and sockets more often than necessary, or leave ports idle.
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

// Chunks end at whole elements, for any number of bytes.
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

// A plan has buffers only in the host memories that it uses.
TEST_F(PackedTrees, TakeNoUnusedBuffer) {
  Model const mesh(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("dgx-1-v100"));
  auto gathered = all_gather(mesh.machine(), 512_MiB);
  gathered.algorithm = Algorithm::PackedTrees;
  auto const plan = plan_collective(mesh, gathered);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    auto const uses = [&](Step const& step) { return step.writes->buffer == BufferId(i); };
    EXPECT_TRUE(std::any_of(plan.steps.begin(), plan.steps.end(), uses)) << plan.buffers[i].name;
  }
}

// Only NICs join two participants of different nodes, so the bound is that of a transfer.
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
