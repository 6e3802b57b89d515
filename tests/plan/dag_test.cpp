#include "core/plan/dag.hpp"

#include <gmock/gmock.h>

#include "core/plan/dag_runner.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

Dag dag(std::size_t nodes, Edges const& edges) {
  return Dag(nodes, [&](auto const& add) {
    for (auto const& [before, after] : edges) add(before, after);
  });
}

// 0 -> 2 -> 3 -> 4, 1 -> 3, and 5 by itself.
Dag two_branches() { return dag(6, {{0, 2}, {2, 3}, {1, 3}, {3, 4}}); }
// 2 waits for 0 and 1, and a circle of 1 and 2.
Dag circle() { return dag(3, {{0, 2}, {1, 2}, {2, 1}}); }

std::vector<Step> steps_after(std::vector<std::vector<StepId>> const& after) {
  std::vector<Step> steps(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) steps[i].after = after[i];
  return steps;
}

TEST(Dag, KeepsTheOrderOfItsEdges) {
  auto const graph = dag(4, {{0, 3}, {1, 2}, {0, 1}, {0, 3}});
  EXPECT_THAT(graph.successors(0), ElementsAre(3, 1, 3));
  EXPECT_THAT(graph.successors(1), ElementsAre(2));
  EXPECT_TRUE(graph.successors(3).empty());
  EXPECT_THAT(graph.predecessors(), ElementsAre(0, 1, 1, 2));
}

TEST(Dag, OfNoNodesIsEmpty) {
  EXPECT_TRUE(topological_order(Dag()).empty());
  EXPECT_TRUE(topological_order(dag(0, {})).empty());
}

TEST(Dag, OrdersNodesAsTheyBecomeFree) {
  EXPECT_THAT(topological_order(two_branches()), ElementsAre(0, 1, 5, 2, 3, 4));
  EXPECT_THAT(topological_order(dag(3, {{2, 1}, {2, 0}})), ElementsAre(2, 1, 0));
}

TEST(Dag, SweepsKeepTheOrderOfTheList) {
  EXPECT_THAT(order_by_sweeps(two_branches()), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(order_by_sweeps(dag(4, {{3, 0}, {2, 1}})), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(order_by_sweeps(circle()), ElementsAre(0));
}

TEST(Dag, RefusesCycles) {
  EXPECT_THROW(require_acyclic(circle()), PlanError);
  EXPECT_THROW(topological_order(circle()), PlanError);
  EXPECT_THROW(levels(circle()), PlanError);
  EXPECT_THROW(longest_paths(circle(), std::vector<double>(3, 1)), PlanError);
  EXPECT_THROW(Ancestors{circle()}, PlanError);
  EXPECT_THROW(require_acyclic(dag(1, {{0, 0}})), PlanError);
}

TEST(Dag, RefusesNodesThatAreNotThere) {
  EXPECT_THROW(dag(2, {{0, 2}}), PlanError);
  EXPECT_THROW(dag_of(steps_after({{}, {StepId(7)}})), PlanError);
}

TEST(Dag, LevelsCountTheEdgesOfTheLongestPath) {
  EXPECT_THAT(levels(two_branches()), ElementsAre(0, 0, 1, 2, 3, 0));
  EXPECT_THAT(levels(dag(3, {{0, 1}, {1, 2}, {0, 2}})), ElementsAre(0, 1, 2));
}

TEST(Dag, LongestPathsAddUpTheNodesOnThem) {
  constexpr auto kNone = LongestPaths::kNone;
  std::vector<double> const lengths{1, 8, 2, 4, 16, 32};
  auto const paths = longest_paths(two_branches(), lengths);
  EXPECT_THAT(paths.head, ElementsAre(0, 0, 1, 8, 12, 0));
  EXPECT_THAT(paths.tail, ElementsAre(22, 20, 20, 16, 0, 0));
  EXPECT_THAT(paths.predecessor, ElementsAre(kNone, kNone, 0, 1, 3, kNone));
  EXPECT_THAT(paths.successor, ElementsAre(2, 3, 3, 4, kNone, kNone));
}

TEST(Dag, EquallyLongPathsGoThroughTheLast) {
  std::vector<double> const lengths(4, 1);
  auto const paths = longest_paths(dag(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), lengths);
  EXPECT_EQ(paths.predecessor[3], 2);
  EXPECT_EQ(paths.successor[0], 2);
}

TEST(Dag, AncestorsReachAnyDistance) {
  constexpr std::size_t kChain = 200;  // more than the bits of a word
  Ancestors const chain(Dag(kChain, [](auto const& add) {
    for (std::size_t i = 1; i < kChain; ++i) add(i - 1, i);
  }));
  EXPECT_TRUE(chain.has(kChain - 1, 0));
  EXPECT_FALSE(chain.has(0, kChain - 1));
  EXPECT_FALSE(chain.has(70, 70));
  Ancestors const branches(two_branches());
  EXPECT_TRUE(branches.are_ordered(0, 4) && branches.are_ordered(4, 0));
  EXPECT_FALSE(branches.are_ordered(1, 2) || branches.are_ordered(3, 5));
}

TEST(Dag, OfStepsHasBothKindsOfDependencies) {
  auto steps = steps_after({{}, {StepId(0)}, {}});
  steps[0].order_only = {StepId(2)};
  EXPECT_THAT(topological_order(steps), ElementsAre(StepId(2), StepId(0), StepId(1)));
  EXPECT_THAT(levels(dag_of_after(steps)), ElementsAre(0, 1, 0));
}

TEST(DagRunner, StartsAStepBehindTheLastThatItWaitsFor) {
  DagRunner runner(steps_after({{}, {}, {StepId(0), StepId(1)}, {StepId(0)}}));
  std::vector<StepId> started;
  auto const start = [&](StepId step) { started.push_back(step); };
  runner.begin(start);
  EXPECT_THAT(started, ElementsAre(StepId(0), StepId(1)));
  runner.finished(StepId(0), start);
  EXPECT_THAT(started, ElementsAre(StepId(0), StepId(1), StepId(3)));
  runner.finished(StepId(1), start);
  EXPECT_EQ(started.back(), StepId(2));
  runner.finished(StepId(2), start);
  EXPECT_FALSE(runner.done());
  runner.finished(StepId(3), start);
  EXPECT_TRUE(runner.done());
}

TEST(DagRunner, RefusesWhatCannotBeRun) {
  EXPECT_THROW(DagRunner(steps_after({{StepId(1)}, {StepId(0)}})), PlanError);
  EXPECT_THROW(DagRunner(steps_after({{StepId(1)}})), PlanError);
}

}  // namespace
}  // namespace lanewise
