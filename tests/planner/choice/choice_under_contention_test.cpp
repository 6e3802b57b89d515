// Which plan of a collective is chosen where ways that are fast alone share something.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/collectives/check.hpp"
#include "core/planner/search_limits.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "tests/planner/collectives/collective_cases.hpp"
#include "tests/support/parameter_name.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::among;
using test::bundled;

Seconds makespan(Model const& model, Plan const& plan) { return estimate(model, plan.steps).makespan; }

bool uses_host_memory(Plan const& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) {
    return step.way.staging || std::holds_alternative<NumaId>(step.from) || std::holds_alternative<NumaId>(step.to);
  });
}

// A copy through host memory is 8 % faster than one xGMI link, alone. Eight GPUs have seven links each, and one memory
// a socket.
TEST(ChoiceUnderContention, RingsKeepToTheirLinks) {
  Model const model(bundled("mi300x-x8"));
  auto const sum = among(model.machine(), CollectiveOp::AllReduce, 8, 4_GiB);
  auto const plan = plan_collective(model, sum);
  EXPECT_FALSE(uses_host_memory(plan));
  EXPECT_GT(bus_bandwidth(sum, makespan(model, plan)), 265.0_GBps);
  EXPECT_FALSE(fault_of(plan));
}

// Five cases whose best known plan orders and divides blocks.
struct Exchange {
  char const* machine;
  CollectiveOp op;
  double least_gain;  // over everyone's blocks at once
};
class PlannedAsSet : public testing::TestWithParam<Exchange> {};

TEST_P(PlannedAsSet, IsFasterThanAllBlocksAtOnce) {
  auto const& [machine, op, least_gain] = GetParam();
  Model const model(bundled(machine));
  auto collective = among(model.machine(), op, 8, 512_MiB);
  auto const plan = plan_collective(model, collective);
  EXPECT_EQ(plan.collective->algorithm, Algorithm::TransferSet);
  EXPECT_FALSE(fault_of(plan));
  EXPECT_GE(makespan(model, plan), collective_bound(collective, model)->makespan);
  for (auto const& step : plan.steps) {
    EXPECT_EQ(step.bytes.value() % 16, 0);
    EXPECT_EQ(step.reads->offset.value() % 16, 0);
    EXPECT_TRUE(step.order_only.empty());
  }
  collective.algorithm = Algorithm::Direct;
  EXPECT_GT(makespan(model, plan_collective(model, collective)) / makespan(model, plan), 1 + least_gain);
}

INSTANTIATE_TEST_SUITE_P(Machines, PlannedAsSet,
                         testing::Values(Exchange{"a100x8-pcie-4sw", CollectiveOp::AllToAll, 0.2},
                                         Exchange{"rtx6000pro-x8-bcm", CollectiveOp::AllToAll, 0.1},
                                         Exchange{"h100-pcie-x8", CollectiveOp::AllToAll, 0.1},
                                         Exchange{"gh200x4", CollectiveOp::AllToAll, 0.1},
                                         Exchange{"dgx-1-v100", CollectiveOp::Scatter, 0.02}),
                         [](auto const& tested) {
                           return test::parameter_name(std::string(tested.param.machine) + "_" +
                                                       std::string(to_string(tested.param.op)));
                         });

TEST(PlannedAsSet, DividesBlocksOfAnySizes) {
  Model const model(bundled("h100-pcie-x8"));
  auto uneven = among(model.machine(), CollectiveOp::AllToAllV, 6, Bytes(0), Algorithm::TransferSet);
  for (std::int64_t i = 0; i < 6; ++i) {
    auto& row = uneven.sizes.emplace_back();
    for (std::int64_t j = 0; j < 6; ++j) row.emplace_back((i * 7 + j * 3) % 5 * 3'000'017);
  }
  auto const plan = plan_collective(model, uneven);
  plan.verify(model.machine());
  EXPECT_FALSE(fault_of(plan));
}

TEST(PlannedAsSet, IsForExchangesInOneNode) {
  Model const model(bundled("hgx-h100-2"));
  for (auto const& collective : {among(model.machine(), CollectiveOp::AllToAll, 16, 16_MiB, Algorithm::TransferSet),
                                 among(model.machine(), CollectiveOp::AllReduce, 4, 16_MiB, Algorithm::TransferSet)})
    EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);
}

// The same bytes asked for as an all_to_all and as transfers must say the same of a machine. The collective also copies
// each GPU's own block.
TEST(PlannedAsSet, RanksMachinesAsTransfersDo) {
  for (auto const* name :
       {"a100x8-pcie-4sw", "rtx6000pro-x8-genoa", "mi300x-x8", "hgx-h100", "h100-pcie-x8", "rtx6000pro-x16-turin"}) {
    Model const model(bundled(name));
    auto const n = model.machine().all(PciKind::Gpu).size();
    auto const bytes = 32_MiB * static_cast<std::int64_t>(n);
    auto const collective = among(model.machine(), CollectiveOp::AllToAll, n, bytes);
    std::vector<Request> requests;
    for (auto const& from : collective.among)
      for (auto const& to : collective.among)
        if (from != to)
          requests.push_back({.id = "t" + std::to_string(requests.size()),
                              .from = from,
                              .to = to,
                              .bytes = 32_MiB,
                              .any_mover = true});
    auto const as_set = makespan(model, SetPlanner(model).plan(requests, {Objective::Makespan}));
    auto const as_collective = makespan(model, plan_collective(model, collective));
    EXPECT_NEAR(as_set / as_collective, 1, 0.06) << name;
  }
}

// CUDA maps eight peers of a GPU over PCIe, whatever the algorithm sends to whom.
TEST(PeerLimit, HoldsForCollectives) {
  Model const model(bundled("rtx6000pro-x16-3root"));
  std::size_t most = 0;
  for (auto const op :
       {CollectiveOp::AllToAll, CollectiveOp::AllGather, CollectiveOp::Scatter, CollectiveOp::AllReduce})
    for (auto const& plan : plans_of_collective(model, among(model.machine(), op, 16, 64_MiB), Keep::All)) {
      std::map<Place, std::set<Place>> peers;
      for (auto const& step : plan.steps) {
        if (step.way.mechanism != Mechanism::PcieP2p) continue;
        peers[step.from].insert(step.to);
        peers[step.to].insert(step.from);
      }
      for (auto const& [gpu, others] : peers) {
        EXPECT_LE(others.size(), 8U) << to_string(op) << " by " << to_string(plan.collective->algorithm);
        most = std::max(most, others.size());
      }
      EXPECT_FALSE(fault_of(plan));
    }
  EXPECT_EQ(most, 8U);
}

constexpr CollectiveOp kAllOps[] = {CollectiveOp::Broadcast, CollectiveOp::Reduce,    CollectiveOp::Scatter,
                                    CollectiveOp::Gather,    CollectiveOp::AllGather, CollectiveOp::ReduceScatter,
                                    CollectiveOp::AllReduce, CollectiveOp::AllToAll,  CollectiveOp::AllToAllV,
                                    CollectiveOp::Chain};

Collective sized(Machine const& machine, CollectiveOp op, Bytes bytes) {
  auto const count = std::min<std::size_t>(machine.all(PciKind::Gpu).size(), 8);
  auto collective = among(machine, op, count, bytes);
  if (op == CollectiveOp::AllToAllV)  // everyone has more for those behind it
    for (std::size_t i = 0; i < count; ++i) {
      auto& row = collective.sizes.emplace_back();
      for (std::size_t j = 0; j < count; ++j)
        row.emplace_back(i == j ? 0 : bytes.value() / static_cast<std::int64_t>(count) / (j < i ? 2 : 1));
    }
  return collective;
}

class AlgorithmChoice : public testing::TestWithParam<char const*> {};

// By an algorithm of one's own wish nothing is faster by more than 3 %, but for what would use host memory beside
// NVLink: that must be clearly faster.
TEST_P(AlgorithmChoice, IsOfTheFastestAlgorithm) {
  Model const model(bundled(GetParam()));
  for (auto const op : kAllOps)
    for (auto const bytes : {64_KiB, 1_MiB, 16_MiB, 256_MiB, 4_GiB}) {
      if (!test::is_whole_sweep() && bytes != 256_MiB) continue;
      auto collective = sized(model.machine(), op, bytes);
      auto const chosen = compared_time(model, plan_collective(model, collective));
      for (std::size_t a = 1; a < algorithm_names().size(); ++a) {
        collective.algorithm = static_cast<Algorithm>(a);
        try {
          auto const plan = plan_collective(model, collective);
          bool const must_gain = uses_host_memory(plan);
          auto const ratio = must_gain ? 1 + kSearchLimits.min_host_path_gain : 1.03;
          EXPECT_LE(chosen, compared_time(model, plan) * ratio)
              << to_string(op) << " of " << bytes.value() << " B by " << algorithm_names()[a];
        } catch (PlanError const&) {  // not this collective
        }
      }
    }
}

TEST_P(AlgorithmChoice, TakesNoLessForMoreBytes) {
  Model const model(bundled(GetParam()));
  for (auto const op : kAllOps) {
    Seconds longest{0};
    for (auto const bytes : {64_KiB, 1_MiB, 16_MiB, 256_MiB, 4_GiB}) {
      auto const time = compared_time(model, plan_collective(model, sized(model.machine(), op, bytes)));
      EXPECT_GE(time, longest * 0.99) << to_string(op) << " of " << bytes.value() << " B";
      longest = std::max(longest, time);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, AlgorithmChoice,
                         testing::Values("mi300x-x8", "rtx6000pro-x8-bcm", "a100x8-pcie-4sw", "dgx-1-v100", "hgx-h100",
                                         "epyc-mi60-x8", "gh200x4", "h100-pcie-x8", "rtx6000pro-x8-genoa",
                                         "a100x4-pcie-dual-socket", "l40s-x8", "rtx3090-x8"),
                         [](auto const& tested) { return test::parameter_name(tested.param); });

}  // namespace
}  // namespace lanewise
