// Every collective by every algorithm on many machines and sizes: the checker follows all contributions through the
// plan. And the checker itself finds what is broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "core/estimate/estimate.hpp"
#include "core/io/error.hpp"
#include "core/machine/catalogue.hpp"
#include "core/planner/bounds/collective_bound.hpp"
#include "core/planner/collectives/check.hpp"
#include "core/planner/collectives/hierarchical.hpp"
#include "core/planner/collectives/plan_collective.hpp"

namespace lanewise {
namespace {

using namespace literals;
using ::testing::HasSubstr;

Machine bundled(std::string const& name) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue.machine(name);
}

Collective among(Machine const& machine, CollectiveOp op, std::size_t count, Bytes bytes,
                 Algorithm algorithm = Algorithm::Auto) {
  Collective collective{op, {}, bytes, algorithm, 0};
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (collective.among.size() < count) collective.among.emplace_back(gpu);
  return collective;
}

constexpr CollectiveOp kOps[] = {CollectiveOp::Broadcast,    CollectiveOp::Scatter,   CollectiveOp::Gather,
                                 CollectiveOp::AllGather,    CollectiveOp::AllReduce, CollectiveOp::AllToAll,
                                 CollectiveOp::ReduceScatter};

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
      // Any sizes, whole elements or not, and none for every fourth.
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

Plan all_reduce(Algorithm algorithm) {
  static Model const model(bundled("hgx-h200"));
  return plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 4, 1_MiB, algorithm));
}

TEST(FaultOf, FindsAMissingStep) {
  auto plan = all_reduce(Algorithm::Ring);
  plan.steps.pop_back();
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("contributions"));
}

TEST(FaultOf, FindsAContributionThatCountsTwice) {
  auto plan = all_reduce(Algorithm::Direct);
  auto again = plan.steps.front();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) again.after.push_back(StepId(i));
  plan.steps.push_back(again);
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("contributions"));
}

TEST(FaultOf, FindsABlockAtAnothersPlace) {
  static Model const model(bundled("hgx-h200"));
  auto collective = among(model.machine(), CollectiveOp::AllToAllV, 2, Bytes(0));
  collective.sizes = {{32_B, 48_B}, {64_B, 16_B}};
  auto plan = plan_collective(model, collective);
  EXPECT_FALSE(fault_of(plan));
  for (auto& step : plan.steps)
    if (step.bytes == 48_B) step.reads->offset = Bytes(16);
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("participant 1"));
}

// Kernels on all GPUs tell one another that they run and are through, unless data bring their own flags; copies do not.
TEST(PlanCollective, CountsWhatKernelsTellOneAnother) {
  Model const model(bundled("hgx-h200"));
  auto const plan =
      plan_collective(model, among(model.machine(), CollectiveOp::ReduceScatter, 2, 64_MiB, Algorithm::Direct));
  auto apart = plan.steps;
  for (auto& step : apart) step.reads.reset();
  EXPECT_NEAR((estimate(model, plan.steps).makespan - estimate(model, apart).makespan).value(), 5.4e-6, 1e-9);
}

// Pieces go on while the next follow: n - 1 links are through after the first piece and the others behind it.
TEST(PlanCollective, SendsAChainInPieces) {
  Model const model(bundled("hgx-h200"));
  auto chain = among(model.machine(), CollectiveOp::Chain, 8, 256_MiB);
  auto const time = [&](std::size_t pieces) {
    chain.pieces = pieces;
    return estimate(model, plan_collective(model, chain).steps).makespan;
  };
  EXPECT_NEAR(time(1) / time(7), 7.0 * 7 / (7 + 6), 0.3);  // an engine sees the other GPU's event before each
  auto const one = time(1);
  auto const best = time(0);
  for (std::size_t const pieces : {1, 4, 64}) EXPECT_LE(best, time(pieces));
  EXPECT_LT(best, one / 4.8);
}

// Between the sockets of an AC922 there is one way; what crosses it crosses once, however many wait for it.
TEST(PlanCollective, WritesHostMemoryOnceForAllWhoRead) {
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

TEST(FaultOf, FindsStepsInNoOrder) {
  auto plan = all_reduce(Algorithm::HalvingDoubling);
  plan.steps.back().after.clear();
  EXPECT_THAT(fault_of(plan).value_or(""), HasSubstr("in no order"));
}

// Six links a GPU of a V100 cube mesh are three rings in two directions, four of a P100's two; on NVSwitch it is one.
TEST(ParticipantLayout, FindsAllDisjointRings) {
  auto const rings = [](std::string const& name) {
    Model const model(bundled(name));
    return layout_of(model, among(model.machine(), CollectiveOp::AllReduce, 8, 1_MiB)).rings.size();
  };
  EXPECT_EQ(rings("dgx-1-v100"), 6U);
  EXPECT_EQ(rings("dgx-1-p100"), 4U);
  EXPECT_EQ(rings("hgx-h200"), 1U);
}

TEST(ParticipantLayout, GroupsWhatNvlinkJoins) {
  Model const pairs(bundled("ncv4"));
  auto const layout = layout_of(pairs, among(pairs.machine(), CollectiveOp::AllGather, 4, 1_MiB));
  EXPECT_THAT(layout.groups, testing::ElementsAre(testing::ElementsAre(0, 1), testing::ElementsAre(2, 3)));
}

// Two pairs without a way between them but host memory: each part crosses once, then NVLink carries it on.
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

// Two GPUs and two NICs below each switch: not all of them take the first.
TEST(PlanCollective, UsesEveryNic) {
  Model const model(bundled("hgx-h100-2"));
  auto const plan = plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 16, 256_MiB));
  std::set<PciId> senders;
  for (auto const& step : plan.steps)
    if (step.way.nic_from) senders.insert(*step.way.nic_from);
  EXPECT_EQ(senders.size(), model.machine().fabric->attachments.size());
}

// As many GPUs of each of several nodes.
Collective among_nodes(Machine const& machine, CollectiveOp op, std::size_t nodes, std::size_t each, Bytes bytes) {
  Collective collective{op, {}, bytes, Algorithm::Hierarchical, 0};
  for (std::size_t node = 0; node < nodes; ++node)
    for (std::size_t gpu = 0; gpu < each; ++gpu)
      collective.among.push_back(machine.place("node" + std::to_string(node) + "/gpu" + std::to_string(gpu)));
  return collective;
}

void expect_whole(Model const& model, Collective const& collective) {
  for (auto const& plan : plans_of_collective(model, collective)) {
    plan.verify(model.machine());
    auto const fault = fault_of(plan);
    EXPECT_FALSE(fault) << to_string(collective.op) << " among " << collective.among.size() << ": " << *fault;
    EXPECT_GE(estimate(model, plan.steps).makespan, collective_bound(collective, model)->makespan);
  }
}

constexpr CollectiveOp kHierarchicalOps[] = {CollectiveOp::Broadcast, CollectiveOp::Scatter,
                                             CollectiveOp::Gather,    CollectiveOp::AllGather,
                                             CollectiveOp::AllReduce, CollectiveOp::ReduceScatter};

// In one piece and in slices, by halves and from neighbour to neighbour, along chains and trees, from any root.
TEST(Hierarchical, BringsEveryContributionToItsPlaceOnce) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const& [nodes, each] : {std::pair<std::size_t, std::size_t>{2, 2}, {3, 4}, {4, 3}, {5, 2}})
    for (auto const op : kHierarchicalOps)
      for (auto const bytes : {Bytes(16 * 840), Bytes(static_cast<std::int64_t>(nodes * each) << 18)}) {
        auto collective = among_nodes(model.machine(), op, nodes, each, bytes);
        bool const from_root = !has_reduce_scatter(op) && !has_all_gather(op);
        for (auto const root : {std::size_t{0}, nodes * each / 2, nodes * each - 1}) {
          collective.root = root;
          if (from_root || root == 0) expect_whole(model, collective);
        }
      }
}

// In up to 32 slices, and of participants listed rail by rail, whose cells are neighbours in one piece and not in more.
TEST(Hierarchical, KeepsToItsLimits) {
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
    for (auto const& moves : hierarchical_schedules(collective, layout)) {
      EXPECT_GT(moves.list().size(), 0U);
      EXPECT_LE(moves.list().size(), 65536U) << to_string(op);
    }
  }
  auto collective = among_nodes(model.machine(), CollectiveOp::AllReduce, 9, 8, 72_MiB);
  EXPECT_FALSE(fault_of(plan_collective(model, collective)));
}

// A root has one NIC beside it and a node eight: what it hands out once by NVLink leaves through all of them.
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

// What is within nodes and what is between them go on at the same time, on other slices.
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

// What nodes have goes between them whole, by one GPU of each and one NIC after the other: an eighth of the moves.
TEST(Hierarchical, MovesWholeNodesPartsAmongMany) {
  Model const model(bundled("hgx-h100-32"));
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::ReduceScatter}) {
    auto const plan = plan_collective(model, among_nodes(model.machine(), op, 9, 8, 72_MiB));
    EXPECT_FALSE(fault_of(plan));
    EXPECT_EQ(plan.steps.size(), 9U * 8 * 7 + 9 * 8 * 8) << to_string(op);
    std::map<PciId, Bytes> by_nic;
    for (auto const& step : plan.steps)
      if (step.way.nic_from) by_nic[*step.way.nic_from] += step.bytes;
    EXPECT_EQ(by_nic.size(), 72U);
    for (auto const& [nic, bytes] : by_nic) EXPECT_EQ(bytes, 8_MiB) << to_string(op);
  }
}

// Of the two GPUs and NICs below a switch each GPU has its own NIC in front, so all of them send and get as much; and
// nobody gets from two at once.
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

// With few moves of each under way at once, NICs still hardly idle.
TEST(PlanCollective, AllToAllAmongManyIsNearItsBound) {
  Model const model(bundled("hgx-h100-32"));
  auto collective = among_nodes(model.machine(), CollectiveOp::AllToAll, 9, 8, 72_MiB);
  collective.algorithm = Algorithm::Direct;
  auto const plan = plan_collective(model, collective);
  EXPECT_FALSE(fault_of(plan));
  EXPECT_LT(estimate(model, plan.steps).makespan, collective_bound(collective, model)->makespan * 1.05);
}

// In each step everyone sends to one other and gets from one, whether nodes have as many GPUs or not, and all are
// within their nodes or none.
TEST(PlanCollective, AllToAllGoesInShifts) {
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
    auto const moves = schedules_of(collective, Algorithm::Direct, layout_of(model, collective)).front();
    ASSERT_EQ(moves.list().size(), n * n);
    for (std::size_t step = 0; step < n; ++step) {
      std::set<std::uint32_t> from, to;
      std::size_t within = 0;
      for (std::size_t i = 0; i < n; ++i) {
        auto const& move = moves.list()[step * n + i];
        from.insert(move.from);
        to.insert(move.to);
        if (move.from / each == move.to / each) ++within;
      }
      EXPECT_EQ(from.size(), n);
      EXPECT_EQ(to.size(), n);
      if (more == 0) {
        EXPECT_EQ(within, step < each ? n : 0);
      }
    }
  }
}

TEST(PlanCollective, AmongManyStillDoesWhatOnlyDirectDoes) {
  Model const model(bundled("hgx-h100-32"));
  auto const plan = plan_collective(model, among(model.machine(), CollectiveOp::AllToAll, 72, Bytes(72 * 4096)));
  EXPECT_EQ(plan.collective->algorithm, Algorithm::Direct);
  EXPECT_FALSE(fault_of(plan));
}

TEST(TransferSchedule, InWindowsWaitForThoseBeforeThem) {
  TransferSchedule moves(4, 1_MiB, 1);
  auto const send = [&](std::size_t from, std::size_t to) {
    moves.send_block_to_output(from, to, Bytes(0), Bytes(0), 1_KiB);
  };
  for (int i = 0; i < 4; ++i) {
    send(0, 2);
    send(0, 1);  // within its group
  }
  send(1, 0);
  moves.limit_outstanding(2, {{0, 1}, {2, 3}});
  auto const& list = moves.list();
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(list[i].after, i < 4 ? std::vector<std::uint32_t>{} : std::vector{i - 4}) << i;
  EXPECT_TRUE(list[8].after.empty());  // another sender's first
}

TEST(TransferSchedule, GoBehindWhatTheirSenderSentBefore) {
  TransferSchedule moves(3, 1_MiB, 1);
  for (std::size_t const from : {0, 1, 0, 0, 1, 2})
    moves.send_block_to_output(from, from == 2 ? 0 : 2, 0_B, 0_B, 1_KiB);
  moves.chain_after(3, 0, 3);
  std::vector<std::vector<std::uint32_t>> after;
  for (auto const& move : moves.list()) after.push_back(move.after);
  EXPECT_THAT(after, testing::ElementsAre(testing::IsEmpty(), testing::IsEmpty(), testing::IsEmpty(),
                                          testing::ElementsAre(2), testing::ElementsAre(1), testing::IsEmpty()));
}

// Along a ring of a mesh every link has its own data to carry, so none is relayed over two wider ones.
TEST(PlanCollective, RelaysForNobodyThatNvlinkJoins) {
  Model const model(bundled("dgx-1-v100"));
  auto const plan = plan_collective(model, among(model.machine(), CollectiveOp::AllGather, 8, 512_MiB));
  for (auto const& step : plan.steps) EXPECT_EQ(step.way.mechanism, Mechanism::Nvlink);
}

TEST(PlanCollective, ChoosesFewRoundsForLittleAndFullLinksForMuch) {
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

TEST(PlanCollective, RefusesWhatItCannotDo) {
  Model const model(bundled("hgx-h200"));
  auto const& machine = model.machine();
  auto collective = among(machine, CollectiveOp::AllReduce, 6, 1_MiB, Algorithm::HalvingDoubling);
  EXPECT_THROW(static_cast<void>(plan_collective(model, collective)), PlanError);  // six is no power of two
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
