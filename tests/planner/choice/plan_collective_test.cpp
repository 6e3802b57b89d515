// Every collective by every algorithm on many machines and sizes; what plans look like and how long they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "core/planner/collectives/check.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "tests/planner/collectives/collective_cases.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::among;
using test::among_nodes;
using test::bundled;

constexpr CollectiveOp kOps[] = {CollectiveOp::Broadcast,     CollectiveOp::Scatter,   CollectiveOp::Gather,
                                 CollectiveOp::AllGather,     CollectiveOp::AllReduce, CollectiveOp::AllToAll,
                                 CollectiveOp::ReduceScatter, CollectiveOp::Reduce};

class Collectives : public testing::TestWithParam<char const*> {};

TEST_P(Collectives, BringEveryContributionToItsPlaceOnce) {
  Model const model(bundled(GetParam()));
  auto const gpus = model.machine().all(PciKind::Gpu).size();
  for (auto const op : kOps)
    for (std::size_t count = 2; count <= std::min<std::size_t>(gpus, 8); ++count)
      for (auto const bytes : {Bytes(16 * 840), Bytes(static_cast<std::int64_t>(count) << 20)}) {
        auto collective = among(model.machine(), op, count, bytes);
        collective.root = count / 2;
        for (auto const& plan : plans_of_collective(model, collective)) {
          plan.verify(model.machine());
          auto const fault = fault_of(plan);
          EXPECT_FALSE(fault) << to_string(op) << " by " << to_string(plan.collective->algorithm) << " among " << count
                              << ": " << *fault;
        }
      }
}

TEST_P(Collectives, AreNeverEstimatedBelowTheirBound) {
  Model const model(bundled(GetParam()));
  auto const gpus = model.machine().all(PciKind::Gpu).size();
  for (auto const op : kOps)
    for (auto const bytes : {64_KiB, 16_MiB}) {
      auto const collective = among(model.machine(), op, std::min<std::size_t>(gpus, 8), bytes);
      auto const bound = collective_bound(collective, model);
      if (!bound) continue;
      for (auto const& plan : plans_of_collective(model, collective))
        EXPECT_GE(estimate(model, plan.steps).makespan, bound->makespan)
            << to_string(op) << " by " << to_string(plan.collective->algorithm);
    }
}

TEST_P(Collectives, OfUnevenPartsAndChainsBringEverythingToItsPlace) {
  Model const model(bundled(GetParam()));
  std::mt19937 random(3);
  auto const gpus = model.machine().all(PciKind::Gpu).size();
  for (std::size_t count = 2; count <= std::min<std::size_t>(gpus, 8); ++count) {
    auto uneven = among(model.machine(), CollectiveOp::AllToAllV, count, Bytes(0));
    for (std::size_t i = 0; i < count; ++i) {
      auto& row = uneven.sizes.emplace_back();
      // Any sizes, whole elements or not, and 0 for every fourth.
      for (std::size_t j = 0; j < count; ++j) row.emplace_back(random() % 4 == 0 ? 0 : random() % 3'000'000);
    }
    auto chain = among(model.machine(), CollectiveOp::Chain, count, Bytes(1'000'000));
    for (std::size_t const pieces : {0, 1, 7}) {
      chain.pieces = pieces;
      for (auto const& collective : {uneven, chain})
        for (auto const& plan : plans_of_collective(model, collective)) {
          plan.verify(model.machine());
          auto const fault = fault_of(plan);
          EXPECT_FALSE(fault) << to_string(collective.op) << " among " << count << ": " << *fault;
          if (auto const bound = collective_bound(collective, model)) {
            EXPECT_GE(estimate(model, plan.steps).makespan, bound->makespan);
          }
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, Collectives,
                         testing::Values("dgx-1-v100", "hgx-h200", "a100x8-pcie-4sw", "ncv4", "hgx-h100-2", "ac922"));

TEST(PlanCollective, ChoosesFewRoundsForSmallSizesAndFullLinksForLarge) {
  Model const model(bundled("hgx-h200"));
  auto const time = [&](Bytes bytes, Algorithm algorithm) {
    return estimate(model,
                    plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 8, bytes, algorithm)).steps)
        .makespan;
  };
  for (auto const bytes : {4_KiB, 1_MiB, 256_MiB})
    for (auto const algorithm : {Algorithm::Direct, Algorithm::Ring, Algorithm::Tree, Algorithm::HalvingDoubling})
      EXPECT_LE(time(bytes, Algorithm::Auto), time(bytes, algorithm));
  EXPECT_LT(time(4_KiB, Algorithm::Direct), time(4_KiB, Algorithm::Ring));
}

// Kernels on all GPUs notify one another when they start and finish, unless the data carry their own flags. Copies
// do not.
TEST(PlanCollective, CountsNotificationsBetweenKernels) {
  Model const model(bundled("hgx-h200"));
  auto const plan =
      plan_collective(model, among(model.machine(), CollectiveOp::ReduceScatter, 2, 64_MiB, Algorithm::Direct));
  auto apart = plan.steps;
  for (auto& step : apart) step.reads.reset();
  EXPECT_NEAR((estimate(model, plan.steps).makespan - estimate(model, apart).makespan).value(), 5.4e-6, 1e-9);
}

// Pieces are forwarded while the next ones follow: a chain of n - 1 links takes as long as n - 2 + pieces pieces.
TEST(PlanCollective, SendsAChainInPieces) {
  Model const model(bundled("hgx-h200"));
  auto chain = among(model.machine(), CollectiveOp::Chain, 8, 256_MiB);
  auto const time = [&](std::size_t pieces) {
    chain.pieces = pieces;
    return estimate(model, plan_collective(model, chain).steps).makespan;
  };
  EXPECT_NEAR(time(1) / time(7), 7.0 * 7 / (7 + 6),
              0.3);  // before each piece an engine waits for an event of the other GPU
  auto const one = time(1);
  auto const best = time(0);
  for (std::size_t const pieces : {1, 4, 64}) EXPECT_LE(best, time(pieces));
  EXPECT_LT(best, one / 4.8);
}

// One link joins the sockets of an AC922. Data cross it once, however many GPUs read them.
TEST(PlanCollective, WritesHostMemoryOnceForAllReaders) {
  Model const model(bundled("ac922"));
  auto const gathered = among(model.machine(), CollectiveOp::AllGather, 4, 256_MiB, Algorithm::ThroughHost);
  auto const plan = plan_collective(model, gathered);
  EXPECT_FALSE(fault_of(plan));
  std::map<std::string, std::int64_t> written;  // to each host memory
  for (auto const& step : plan.steps)
    if (std::holds_alternative<NumaId>(step.to)) written[model.machine().name_of(step.to)] += step.bytes.value();
  EXPECT_LE(written.size(), 2U);
  for (auto const& [memory, bytes] : written) EXPECT_LE(bytes, gathered.bytes.value()) << memory;
  auto direct = gathered;
  direct.algorithm = Algorithm::Direct;
  EXPECT_LT(estimate(model, plan.steps).makespan * 1.5, estimate(model, plan_collective(model, direct).steps).makespan);
}

// Every link of a mesh has data of its own ring to carry, so none is relayed over two wider links.
TEST(PlanCollective, RelaysNothingBetweenDirectNeighbours) {
  Model const model(bundled("dgx-1-v100"));
  auto const plan = plan_collective(model, among(model.machine(), CollectiveOp::AllGather, 8, 512_MiB));
  for (auto const& step : plan.steps) EXPECT_EQ(step.way.mechanism, Mechanism::Nvlink);
}

// Only host memory joins the two pairs: each part crosses once, then NVLink carries it on.
TEST(PlanCollective, CrossesBetweenIslandsOnce) {
  Model const model(bundled("ncv4"));
  auto collective = among(model.machine(), CollectiveOp::AllGather, 4, 256_MiB);
  collective.algorithm = Algorithm::Hierarchical;
  auto const plan = plan_collective(model, collective);
  EXPECT_EQ(plan.collective->algorithm, Algorithm::Hierarchical);
  Bytes across{0};
  for (auto const& step : plan.steps)
    if (step.way.mechanism != Mechanism::Nvlink) across += step.bytes;
  EXPECT_EQ(across, 256_MiB);  // four parts of 64 MiB
}

// Below each switch are two GPUs and two NICs: they do not all take the first NIC.
TEST(PlanCollective, UsesEveryNic) {
  Model const model(bundled("hgx-h100-2"));
  auto const plan = plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 16, 256_MiB));
  std::set<PciId> senders;
  for (auto const& step : plan.steps)
    if (step.way.nic_from) senders.insert(*step.way.nic_from);
  EXPECT_EQ(senders.size(), model.machine().fabric->attachments.size());
}

// Below each switch are two GPUs and two NICs. Each GPU has its own NIC, so all NICs send and receive equally, and
// nobody receives from two at once.
TEST(PlanCollective, AllToAllLoadsEveryNicAlike) {
  Model const model(bundled("hgx-h100-32"));
  auto collective = among_nodes(model.machine(), CollectiveOp::AllToAll, 4, 8, 256_MiB);
  collective.algorithm = Algorithm::Auto;
  auto const plan = plan_collective(model, collective);
  std::map<PciId, Bytes> sent, got;
  for (auto const& step : plan.steps)
    if (step.way.nic_from) {
      sent[*step.way.nic_from] += step.bytes;
      got[*step.way.nic_to] += step.bytes;
    }
  EXPECT_EQ(sent.size(), 32U);
  for (auto const& all : {sent, got})
    for (auto const& [nic, bytes] : all) EXPECT_EQ(bytes, 192_MiB);  // 24 others of 8 MiB
  EXPECT_LT(estimate(model, plan.steps).makespan, collective_bound(collective, model)->makespan * 1.01);
}

// Few transfers per participant are outstanding, yet NICs hardly idle.
TEST(PlanCollective, AllToAllAmongManyIsNearItsBound) {
  Model const model(bundled("hgx-h100-32"));
  auto collective = among_nodes(model.machine(), CollectiveOp::AllToAll, 9, 8, 72_MiB);
  collective.algorithm = Algorithm::Direct;
  auto const plan = plan_collective(model, collective, Detail::EveryStep);
  EXPECT_FALSE(fault_of(plan));
  EXPECT_LT(estimate(model, plan.steps).makespan, collective_bound(collective, model)->makespan * 1.05);
}

// In each round everyone sends to one and receives from one, whether nodes have equally many GPUs or not; with equally
// many, all pairs of a round are inside nodes or none is.
TEST(PlanCollective, AllToAllGoesInRounds) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const& [nodes, each, more] :
       {std::tuple<std::size_t, std::size_t, std::size_t>{3, 3, 0}, {2, 8, 0}, {2, 4, 2}}) {
    auto collective = among_nodes(model.machine(), CollectiveOp::AllToAll, nodes, each, Bytes(0));
    for (std::size_t gpu = 0; gpu < more; ++gpu)
      collective.among.push_back(model.machine().place("node31/gpu" + std::to_string(gpu)));
    auto const n = collective.among.size();
    collective.bytes = Bytes(static_cast<std::int64_t>(n) << 20);
    collective.algorithm = Algorithm::Direct;
    auto uneven = collective;
    uneven.op = CollectiveOp::AllToAllV;
    uneven.sizes.assign(n, std::vector<Bytes>(n, 1_KiB));
    EXPECT_FALSE(fault_of(plan_collective(model, uneven)));
    EXPECT_FALSE(fault_of(plan_collective(model, collective)));
    auto const schedule = schedules_of(collective, Algorithm::Direct, layout_of(model, collective)).front();
    ASSERT_EQ(schedule.transfers().size(), n * n);
    for (std::size_t round = 0; round < n; ++round) {
      std::set<std::uint32_t> from, to;
      std::size_t inside = 0;
      for (std::size_t i = 0; i < n; ++i) {
        auto const& transfer = schedule.transfers()[round * n + i];
        from.insert(transfer.from);
        to.insert(transfer.to);
        if (transfer.from / each == transfer.to / each) ++inside;
      }
      EXPECT_EQ(from.size(), n);
      EXPECT_EQ(to.size(), n);
      if (more == 0) {
        EXPECT_EQ(inside, round < each ? n : 0);
      }
    }
  }
}

// Two leaf switches of 16 nodes each, with half as many cables up as down.
TEST(PlanCollective, IsBoundByTheUplinksOfLeafSwitches) {
  auto machine = bundled("hgx-h100-32");
  auto const all = [&](Model const& model) {
    return among_nodes(model.machine(), CollectiveOp::AllToAll, 32, 8, 64_MiB);
  };
  Model const even(machine);
  auto const by_nics = collective_bound(all(even), even).value();
  EXPECT_THAT(by_nics.binding.front().name, testing::HasSubstr("NICs"));
  for (std::size_t i = 0; i < machine.fabric->attachments.size(); ++i)
    machine.fabric->attachments[i].at = i < machine.fabric->attachments.size() / 2 ? 0 : 1;
  for (auto& trunk : machine.fabric->trunks) trunk.rate = BytesPerSecond(50e9 * 64);
  Model const narrow(machine);
  auto const bound = collective_bound(all(narrow), narrow).value();
  EXPECT_THAT(bound.binding.front().name, testing::HasSubstr("uplinks"));
  // 128 GPUs send half of their 64 MiB to the other leaf.
  EXPECT_NEAR(bound.makespan.value(), 128 * 32 * 1048576.0 / (50e9 * 64), 0.1 * bound.makespan.value());
  EXPECT_GT(bound.makespan, by_nics.makespan);
}

// A NIC sends no more than its PCIe link brings.
TEST(PlanCollective, IsBoundByThePcieLinksOfNics) {
  auto machine = bundled("hgx-h100-2");
  auto const sum = [](Model const& model) { return among(model.machine(), CollectiveOp::AllToAll, 16, 256_MiB); };
  Model const wide(machine);
  for (auto const nic : machine.all(PciKind::Nic)) machine.functions[index(nic)].link = PcieLink{3, 16};
  Model const narrow(machine);
  EXPECT_GT(collective_bound(sum(narrow), narrow)->makespan, 2.5 * collective_bound(sum(wide), wide)->makespan);
}

TEST(PlanCollective, AmongManyStillDoesWhatOnlyDirectDoes) {
  Model const model(bundled("hgx-h100-32"));
  auto const plan =
      plan_collective(model, among(model.machine(), CollectiveOp::AllToAll, 72, Bytes(72 * 4096)), Detail::EveryStep);
  EXPECT_EQ(plan.collective->algorithm, Algorithm::Direct);
  EXPECT_FALSE(fault_of(plan));
}

// RCCL goes round seven rings that share no link; everyone with all others at once does as well.
TEST(PlanCollective, UsesAllLinksOfAMeshAtOnce) {
  Model const model(bundled("mi300x-x8"));
  Library const rccl = *parse_library("rccl").value;
  // A reduction to a root waits for the last pieces of others before the root adds them.
  for (auto const& [op, most] : {std::pair(CollectiveOp::AllReduce, 1.1), std::pair(CollectiveOp::ReduceScatter, 1.1),
                                 std::pair(CollectiveOp::Broadcast, 1.1), std::pair(CollectiveOp::Reduce, 1.2)}) {
    auto const collective = among(model.machine(), op, 8, 1_GiB);
    auto const by_rings = estimate(model, plan_by_library(model, collective, rccl).steps).makespan;
    EXPECT_LT(estimate(model, plan_collective(model, collective).steps).makespan, most * by_rings) << to_string(op);
  }
}

// The root sends (or gets) each byte of another node once, and the last node begins early. Twice took 2.3 times the
// bound.
TEST(PlanCollective, ABroadcastAmongManyIsNotFarFromItsBound) {
  Model const model(bundled("hgx-h100-16"));
  for (auto const& [op, ratio] : {std::pair(CollectiveOp::Broadcast, 1.5), std::pair(CollectiveOp::Reduce, 2.05)}) {
    auto const collective = among(model.machine(), op, 128, 1_GiB);
    auto const plan = plan_collective(model, collective);
    EXPECT_FALSE(fault_of(plan));
    EXPECT_LT(estimate(model, plan.steps).makespan, ratio * collective_bound(collective, model)->makespan);
  }
}

// Half of an all_reduce takes no longer than the whole. (Of 16 MiB a reduce_scatter does: its parts are 64 KiB.)
TEST(PlanCollective, HalvesOfAnAllReduceAmongManyTakeLessThanIt) {
  for (auto const* name : {"hgx-h100-16", "mi355x-32-ecmp"}) {
    Model const model(bundled(name));
    auto const time = [&](CollectiveOp op, Bytes bytes) {
      auto const plan =
          plan_collective(model, among(model.machine(), op, model.machine().all(PciKind::Gpu).size(), bytes));
      return estimate(model, plan.steps, plan.folding).makespan;
    };
    for (auto const bytes : {128_MiB, 1_GiB}) {
      auto const whole = time(CollectiveOp::AllReduce, bytes);
      EXPECT_LT(time(CollectiveOp::ReduceScatter, bytes), 0.8 * whole) << name;
      EXPECT_LT(time(CollectiveOp::AllGather, bytes), 0.8 * whole) << name;
    }
  }
}

TEST(PlanCollective, RefusesWhatItCannotDo) {
  Model const model(bundled("hgx-h200"));
  auto const& machine = model.machine();
  auto collective = among(machine, CollectiveOp::AllReduce, 6, 1_MiB, Algorithm::HalvingDoubling);
  EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);  // six is not a power of two
  collective = among(machine, CollectiveOp::AllToAll, 3, Bytes(100));
  EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);
  collective = among(machine, CollectiveOp::AllReduce, 1, 1_MiB);
  EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);
  collective = among(machine, CollectiveOp::AllReduce, 2, 1_MiB);
  collective.among[1] = collective.among[0];
  EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);
}

}  // namespace
}  // namespace lanewise
