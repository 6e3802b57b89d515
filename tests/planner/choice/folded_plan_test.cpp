// Folded plans take as long as the plans in which every step is written down.
#include "core/planner/choice/folded_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "core/planner/collectives/folding/symmetric_algorithms.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

constexpr double kEqual = 1e-3;
constexpr std::size_t kMaxUnevenTransfers = 500;  // of each unit, sixteen times as many take long

Machine cluster(std::string const& name, std::vector<std::string> const& settings = {}) {
  auto catalogue = test::bundled();
  auto machine = catalogue.machine(name);
  for (auto const& setting : settings) apply_setting(machine, parse_setting(setting), catalogue);
  return machine;
}

// All GPUs, of nodes from the first on.
Collective among_gpus(Machine const& machine, CollectiveOp op, Bytes bytes) {
  Collective collective;
  collective.op = op;
  for (auto const gpu : machine.all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  collective.bytes = bytes;
  return collective;
}

// The steps of all units, each by itself.
std::vector<Step> every_step(Collective const& collective, SymmetricSchedule const& schedule, UnitGrid const& grid,
                             WayCache& ways) {
  using Wait = SymmetricSchedule::Wait;
  auto const units = grid.units();
  std::vector<Step> steps;
  for (std::size_t id = 0; id < schedule.transfers().size(); ++id) {
    auto const& transfer = schedule.transfers()[id];
    for (std::size_t at = 0; at < units; ++at) {
      auto const to = grid.plus(at, transfer.displacement);
      TransferSchedule::Transfer sample;
      sample.from = static_cast<std::uint32_t>(grid.participant(at, transfer.from));
      sample.to = static_cast<std::uint32_t>(grid.participant(to, transfer.to));
      sample.bytes = transfer.bytes;
      sample.reduces = transfer.reduces;
      auto const& [way, op] = ways.way_of(sample);
      Step step{"c", collective.among[sample.from], collective.among[sample.to], transfer.bytes, op, way, {}};
      step.reads = Region{BufferId(sample.from), transfer.read_at};
      step.writes = Region{BufferId(sample.to), transfer.write_at};
      step.reduces = transfer.reduces;
      for (auto const& [before, wait] : transfer.after) {
        bool const left = wait == Wait::LeftSender || wait == Wait::LeftReceiver;
        auto const here = wait == Wait::LeftSender || wait == Wait::ReachedSender ? at : to;
        auto const sender = left ? here : grid.plus(here, grid.negative(schedule.transfers()[before].displacement));
        step.after.push_back(StepId(before * units + sender));
      }
      std::sort(step.after.begin(), step.after.end());
      step.after.erase(std::unique(step.after.begin(), step.after.end()), step.after.end());
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

// The largest relative difference between a folded plan and every step of it, over the algorithm's variants.
double worst_difference(Machine machine, CollectiveOp op, Bytes bytes, std::size_t classes) {
  Model const model(std::move(machine));
  auto const collective = among_gpus(model.machine(), op, bytes);
  auto const layout = layout_of(model, collective);
  auto const grid = UnitGrid::of(model, collective, layout);
  if (!grid) {
    ADD_FAILURE() << "it does not fold";
    return 1;
  }
  EXPECT_EQ(grid->classes(), classes);
  WayCache ways(model, collective, collective.among, Movers::Fastest, WayPreference::FastestAlone);
  double worst = 0;
  for (auto const& schedule : symmetric_schedules(collective, *grid)) {
    if (classes > 1 && schedule.transfers().size() > kMaxUnevenTransfers) continue;
    auto const plan =
        folded_plan(model, collective, Algorithm::Hierarchical, schedule, refined_for(*grid, schedule), ways);
    plan.verify(model.machine());
    auto const steps = every_step(collective, schedule, *grid, ways);
    std::size_t stood_for = 0;
    for (auto const& step : plan.steps) stood_for += step.count;
    EXPECT_EQ(stood_for, steps.size());
    auto const folded = estimate(model, plan.steps, plan.folding).makespan;
    auto const whole = estimate(model, steps).makespan;
    worst = std::max(worst, std::abs(folded / whole - 1));
  }
  return worst;
}

struct FoldedCase {
  std::string machine;
  CollectiveOp op;
  Bytes bytes;
  friend std::ostream& operator<<(std::ostream& out, FoldedCase const& of) {
    return out << of.machine << ' ' << to_string(of.op) << ' ' << of.bytes.value();
  }
};

class FoldedPlan : public testing::TestWithParam<FoldedCase> {};

TEST_P(FoldedPlan, TakesAsLongAsEveryStep) {
  EXPECT_LT(worst_difference(cluster(GetParam().machine), GetParam().op, GetParam().bytes, 1), kEqual);
}

INSTANTIATE_TEST_SUITE_P(Clusters, FoldedPlan,
                         testing::Values(FoldedCase{"hgx-h100-16", CollectiveOp::AllReduce, 64_MiB},
                                         FoldedCase{"hgx-h100-16", CollectiveOp::AllReduce, 1_KiB},
                                         FoldedCase{"hgx-h100-16", CollectiveOp::AllToAll, 256_MiB},
                                         FoldedCase{"hgx-h100-16", CollectiveOp::AllGather, 256_MiB},
                                         FoldedCase{"hgx-h100-16", CollectiveOp::ReduceScatter, 256_MiB},
                                         FoldedCase{"hgx-h100-16-three-tiers", CollectiveOp::AllReduce, 64_MiB},
                                         FoldedCase{"hgx-h100-16-three-tiers", CollectiveOp::AllToAll, 256_MiB},
                                         FoldedCase{"hgx-h100-16-rail-only", CollectiveOp::AllReduce, 64_MiB},
                                         FoldedCase{"hgx-h100-16-rail-only", CollectiveOp::AllToAll, 64_MiB}));

// Two planes carry together what one does; without a leaf of one plane the nodes below it are a class.
TEST(FoldedPlan, AdaptersHaveAPortInEachPlane) {
  EXPECT_LT(worst_difference(cluster("hgx-h100-16-two-planes"), CollectiveOp::AllReduce, 64_MiB, 1), kEqual);
  EXPECT_LT(worst_difference(cluster("hgx-h100-16-two-planes", {"off@leaf0.rail0.plane1"}), CollectiveOp::AllReduce,
                             64_MiB, 2),
            kEqual);
}

TEST(FoldedPlan, OneSlowCableMakesAClassOfItsNode) {
  EXPECT_LT(worst_difference(cluster("hgx-h100-16", {"rate@node5/nic2=100 Gb/s"}), CollectiveOp::AllReduce, 64_MiB, 2),
            kEqual);
}

// Four domains of two nodes, whose NVLink joins the GPUs of both.
TEST(FoldedPlan, UnitsMayBeDomainsOfSeveralNodes) {
  std::string text = "lanewise: cluster/1\ncluster: pods\nnodes: [{machine: gb300x4-cx8, count: 8}]\ndomains:\n";
  for (int i = 0; i < 4; ++i)
    text += fmt::format(
        "  - {{domain: rack{}, nodes: [node{}..node{}], switch_part: nvswitch-4, chips: 18, generation: 5, count: "
        "18}}\n",
        i, 2 * i, 2 * i + 1);
  text += "fabric: {kind: rail_optimised, nodes_per_leaf: 2}\n";
  auto const machine = test::bundled().machine_from(SourceText::from_memory("pods.yaml", text));
  EXPECT_LT(worst_difference(machine, CollectiveOp::AllReduce, 64_MiB, 1), kEqual);
  EXPECT_LT(worst_difference(machine, CollectiveOp::AllToAll, 64_MiB, 1), kEqual);
}

TEST(FoldedPlan, OneWeakLeafMakesAClassOfItsNodes) {
  EXPECT_LT(worst_difference(cluster("hgx-h100-16-three-tiers", {"uplinks@leaf0.rail0=1"}), CollectiveOp::AllReduce,
                             64_MiB, 2),
            kEqual);
}

TEST(FoldedPlan, ManyAlikeAreFoldedAndFewAreNot) {
  Model const model(cluster("hgx-h100-16"));
  auto collective = among_gpus(model.machine(), CollectiveOp::AllReduce, 64_MiB);
  auto const plan = plan_collective(model, collective);
  ASSERT_EQ(plan.folding.size(), 1U);
  EXPECT_EQ(plan.folding.front().units.size(), 16U);
  EXPECT_TRUE(plan_collective(model, collective, Detail::EveryStep).folding.empty());
  collective.among.resize(64);
  EXPECT_TRUE(plan_collective(model, collective).folding.empty());
}

TEST(FoldedPlan, UnlikeGroupsAreNotFolded) {
  Model const model(cluster("hgx-h100-16"));
  auto collective = among_gpus(model.machine(), CollectiveOp::AllReduce, 64_MiB);
  collective.among.pop_back();
  EXPECT_TRUE(plan_collective(model, collective).folding.empty());
}

// Three tiers, 2,048 nodes. Where all NICs are busy all the time, each byte of an all_reduce leaves and enters them
// once for the sum and once for the result.
TEST(FoldedPlan, SixteenThousandGpusTakeAsManyStepsAsOneNode) {
  test::TemporaryFolder const folder;
  auto const file = folder.with("large.yaml",
                                "lanewise: cluster/1\ncluster: large\nnodes: [{machine: hgx-h100, count: 2048}]\n"
                                "fabric:\n  kind: fat_tree\n  switch: quantum-2-ndr\n  by_rail: true\n  tiers:\n"
                                "    - {tier: leaf, joins: 32}\n    - {tier: pod, joins: 8, switches: 64}\n"
                                "    - {tier: core, switches: 256}\n");
  auto catalogue = test::bundled();
  Model const model(catalogue.machine(file.string()));
  auto collective = among_gpus(model.machine(), CollectiveOp::AllReduce, 1_GiB);
  auto const plan = plan_collective(model, collective);
  auto const makespan = estimate(model, plan.steps, plan.folding).makespan;
  auto const at_least = collective_bound(collective, model)->makespan;
  constexpr double kNics = 8 * 50e9 * 0.97;  // bytes/s of a node; 400 Gb/s of payload at most
  EXPECT_GT(at_least.value(), 2.0 * static_cast<double>(collective.bytes.value()) * 2047 / 2048 / (8 * 50e9));
  EXPECT_LT(makespan.value(), 1.15 * 2.0 * static_cast<double>(collective.bytes.value()) / kNics);
  EXPECT_LT(plan.steps.size(), 10'000U);
  collective.op = CollectiveOp::Scatter;
  EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);
}

TEST(FoldedPlan, IsWrittenAndReadBack) {
  Model const model(cluster("hgx-h100-16"));
  auto const plan = plan_collective(model, among_gpus(model.machine(), CollectiveOp::AllReduce, 64_MiB));
  auto json = to_json(plan, model.machine());
  EXPECT_EQ(json.at("steps").at(0).at("count"), 16);
  EXPECT_EQ(plan_from_json(json, model.machine()), plan);
  json["folding"][0][1][0] = "node99";
  EXPECT_THROW(plan_from_json(json, model.machine()), InputError);
  json["folding"][0][1][0] = "node0";
  EXPECT_THROW(plan_from_json(json, model.machine()), InputError);
  json["folding"][0][1][0] = "node1";
  for (auto const count : {0, 17}) {
    json["steps"][0]["count"] = count;
    EXPECT_THROW(plan_from_json(json, model.machine()), PlanError);
  }
  json["steps"][0]["count"] = 16;
  EXPECT_EQ(plan_from_json(json, model.machine()), plan);
  json["folding"][0].erase(15);
  EXPECT_THROW(plan_from_json(json, model.machine()), PlanError);
  json.erase("folding");
  EXPECT_THROW(plan_from_json(json, model.machine()), PlanError);
}

TEST(FoldedPlan, OfNodesThatAreNotAlikeIsRefused) {
  Model const model(cluster("hgx-h100-16", {"rate@node5/nic2=100 Gb/s"}));
  Model const even(cluster("hgx-h100-16"));
  auto const plan = plan_collective(even, among_gpus(even.machine(), CollectiveOp::AllReduce, 64_MiB));
  EXPECT_THROW(estimate(model, plan.steps, plan.folding), PlanError);
}

}  // namespace
}  // namespace lanewise
