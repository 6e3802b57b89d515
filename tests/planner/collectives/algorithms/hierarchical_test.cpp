// Hierarchical collectives among groups of several sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
#include "core/planner/collectives/algorithms/hierarchical.hpp"
#include "core/planner/collectives/check.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "tests/planner/collectives/collective_cases.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::among;
using test::among_nodes;
using test::bundled;

void expect_whole(Model const& model, Collective const& collective) {
  for (auto const& plan : plans_of_collective(model, collective)) {
    plan.verify(model.machine());
    auto const fault = fault_of(plan);
    EXPECT_FALSE(fault) << to_string(collective.op) << " among " << collective.among.size() << ": " << *fault;
    EXPECT_GE(estimate(model, plan.steps).makespan, collective_bound(collective, model)->makespan);
  }
}

constexpr CollectiveOp kHierarchicalOps[] = {
    CollectiveOp::Broadcast, CollectiveOp::Scatter,       CollectiveOp::Gather, CollectiveOp::AllGather,
    CollectiveOp::AllReduce, CollectiveOp::ReduceScatter, CollectiveOp::Reduce};

// In one piece and in slices, by halving and around rings, along chains and trees, from any root.
TEST(Hierarchical, BringsEveryContributionToItsPlaceOnce) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const& [nodes, each] : {std::pair<std::size_t, std::size_t>{2, 2}, {3, 4}, {4, 3}, {5, 2}})
    for (auto const op : kHierarchicalOps)
      for (auto const bytes : {Bytes(16 * 840), Bytes(static_cast<std::int64_t>(nodes * each) << 18)}) {
        auto collective = among_nodes(model.machine(), op, nodes, each, bytes);
        bool const has_root = !has_reduce_scatter(op) && !has_all_gather(op);
        for (auto const root : {std::size_t{0}, nodes * each / 2, nodes * each - 1}) {
          collective.root = root;
          if (has_root || root == 0) expect_whole(model, collective);
        }
      }
}

Collective among_but(Machine const& machine, std::size_t nodes, std::size_t each, std::vector<std::string> const& lost,
                     Bytes bytes) {
  auto collective = among_nodes(machine, CollectiveOp::AllReduce, nodes, each, bytes);
  std::erase_if(collective.among, [&](Place const& place) {
    return std::find(lost.begin(), lost.end(), machine.name_of(place)) != lost.end();
  });
  return collective;
}

// A GPU less in one node, or in two of them different ones.
TEST(Hierarchical, SumsAmongNodesOfDifferentSizes) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const& lost : {std::vector<std::string>{"node0/gpu3"}, {"node1/gpu0", "node2/gpu3"}})
    for (auto const bytes : {Bytes(16 * 840), 4_MiB})
      expect_whole(model, among_but(model.machine(), 4, 4, lost, bytes));
}

// Seven of eight rails are left; a ring of all has one NIC between two nodes.
TEST(Hierarchical, AMissingGpuCostsItsRailAndNotTheOthers) {
  Model const model(bundled("hgx-h100-32"));
  auto const time = [&](std::vector<std::string> const& lost, Algorithm algorithm) {
    auto collective = among_but(model.machine(), 4, 8, lost, 64_MiB);
    collective.algorithm = algorithm;
    auto const plan = plan_collective(model, collective, Detail::Folded, Effort::Quick);
    return estimate(model, plan.steps, plan.folding).makespan;
  };
  auto const whole = time({}, Algorithm::Hierarchical);
  auto const broken = time({"node2/gpu5"}, Algorithm::Hierarchical);
  EXPECT_GT(broken / whole, 1);
  EXPECT_LT(broken / whole, 1.5);
  EXPECT_GT(time({"node2/gpu5"}, Algorithm::Ring) / broken, 2);
}

// In up to 32 slices, and among participants listed rail by rail: their chunks are neighbours in one piece and not in
// several.
TEST(Hierarchical, KeepsToTheMaximumOfTransfers) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const op : kHierarchicalOps) {
    auto collective = among_nodes(model.machine(), op, 4, 2, 64_MiB);
    std::stable_sort(collective.among.begin(), collective.among.end(), [&](Place const& a, Place const& b) {
      return model.machine().name_of(a).back() < model.machine().name_of(b).back();
    });
    expect_whole(model, collective);
  }
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::AllReduce, CollectiveOp::Broadcast}) {
    auto collective = among_nodes(model.machine(), op, 9, 8, 72_MiB);
    auto const layout = layout_of(model, collective);
    for (auto const& schedule : hierarchical_schedules(collective, layout)) {
      EXPECT_GT(schedule.transfers().size(), 0U);
      EXPECT_LE(schedule.transfers().size(), 65536U) << to_string(op);
    }
  }
  auto collective = among_nodes(model.machine(), CollectiveOp::AllReduce, 9, 8, 72_MiB);
  EXPECT_FALSE(fault_of(plan_collective(model, collective, Detail::EveryStep)));
}

// A root has one NIC near it, and its node has eight: what the root sends once by NVLink leaves through all of them.
TEST(Hierarchical, UsesEveryNicOfARootsNode) {
  Model const model(bundled("hgx-h100-2"));
  for (auto const op : {CollectiveOp::Broadcast, CollectiveOp::Scatter}) {
    auto collective = among_nodes(model.machine(), op, 2, 8, 256_MiB);
    auto const plan = plan_collective(model, collective);
    std::map<PciId, Bytes> by_nic;
    Bytes out_of_root{0};
    for (auto const& step : plan.steps) {
      if (step.way.nic_from) by_nic[*step.way.nic_from] += step.bytes;
      if (step.from == collective.among[0] && !step.way.nic_from) out_of_root += step.bytes;
    }
    EXPECT_EQ(by_nic.size(), 8U) << to_string(op);
    for (auto const& [nic, bytes] : by_nic) EXPECT_EQ(bytes, op == CollectiveOp::Broadcast ? 32_MiB : 16_MiB);
    // All bytes of a broadcast; of a scatter those of fifteen but what the root's own NIC sends.
    EXPECT_EQ(out_of_root, op == CollectiveOp::Broadcast ? 256_MiB : 224_MiB);
    collective.algorithm = Algorithm::Direct;
    EXPECT_LT(estimate(model, plan.steps).makespan * 4,
              estimate(model, plan_collective(model, collective).steps).makespan);
  }
}

// Transfers inside and between nodes overlap, for different slices.
TEST(Hierarchical, IsNearerToItsBoundInSlices) {
  struct Case {
    char const* machine;
    CollectiveOp op;
    double in_one_piece, in_slices;  // gaps: more than, less than
  };
  for (auto const& [machine, op, in_one_piece, in_slices] :
       {Case{"hgx-h100-2", CollectiveOp::AllReduce, 0.8, 0.25}, Case{"hgx-h100-2", CollectiveOp::AllGather, 0.16, 0.15},
        Case{"hgx-h100-2", CollectiveOp::ReduceScatter, 0.9, 0.3},
        Case{"gh200x4-2", CollectiveOp::AllReduce, 0.7, 0.05}, Case{"gh200x4-2", CollectiveOp::AllGather, 0.16, 0.05},
        Case{"gh200x4-2", CollectiveOp::ReduceScatter, 1, 0.05}}) {
    Model const model(bundled(machine));
    auto const collective =
        among(model.machine(), op, model.machine().all(PciKind::Gpu).size(), 256_MiB, Algorithm::Hierarchical);
    auto const bound = collective_bound(collective, model)->makespan;
    auto const plans = plans_of_collective(model, collective);  // the best first
    auto const& whole = *std::min_element(plans.begin(), plans.end(),
                                          [](Plan const& a, Plan const& b) { return a.steps.size() < b.steps.size(); });
    EXPECT_LT(estimate(model, plans.front().steps).makespan / bound - 1, in_slices) << machine << ": " << to_string(op);
    EXPECT_GT(estimate(model, whole.steps).makespan / bound - 1, in_one_piece) << machine << ": " << to_string(op);
  }
}

// Data of whole nodes travel as one transfer, through one GPU and NIC of each after the other: an eighth of the
// transfers.
TEST(Hierarchical, MovesTheDataOfWholeNodesAmongMany) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::ReduceScatter}) {
    auto const plan = plan_collective(model, among_nodes(model.machine(), op, 9, 8, 72_MiB), Detail::EveryStep);
    EXPECT_FALSE(fault_of(plan));
    EXPECT_EQ(plan.steps.size(), 9U * 8 * 7 + 9 * 8 * 8) << to_string(op);
    std::map<PciId, Bytes> by_nic;
    for (auto const& step : plan.steps)
      if (step.way.nic_from) by_nic[*step.way.nic_from] += step.bytes;
    EXPECT_EQ(by_nic.size(), 72U);
    for (auto const& [nic, bytes] : by_nic) EXPECT_EQ(bytes, 8_MiB) << to_string(op);
  }
}

}  // namespace
}  // namespace lanewise
