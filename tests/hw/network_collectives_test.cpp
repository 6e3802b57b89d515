// Collectives among host memories of several nodes, as their processes run them.
#include <gmock/gmock.h>

#include <algorithm>

#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/hw/network_rig.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::hw {
namespace {

using test::Rig;

struct Case {
  std::string machine;
  std::vector<std::string> among;
  std::vector<std::vector<int>> ranks;  // by node
};

// Three nodes of one socket; two nodes of two, with one process each and with two.
std::vector<Case> cases() {
  std::vector<std::string> const sockets{"node0/numa0", "node0/numa1", "node1/numa0", "node1/numa1"};
  return {{"soft-roce-3", {"node0/numa0", "node1/numa0", "node2/numa0"}, {{0}, {1}, {2}}},
          {"soft-roce-2", sockets, {{0}, {1}}},
          {"soft-roce-2", sockets, {{0, 1}, {2, 3}}}};
}

Collective collective_of(Machine const& machine, CollectiveOp op, std::vector<std::string> const& among, Bytes bytes) {
  Collective collective;
  collective.op = op;
  for (auto const& name : among) collective.among.push_back(machine.place(name));
  auto const n = collective.among.size();
  collective.bytes = Bytes(bytes.value() / static_cast<std::int64_t>(16 * n) * static_cast<std::int64_t>(16 * n));
  if (op != CollectiveOp::AllToAllV) return collective;
  collective.bytes = Bytes(0);
  for (std::size_t from = 0; from < n; ++from) {
    auto& row = collective.sizes.emplace_back();
    for (std::size_t to = 0; to < n; ++to) row.push_back(Bytes(from == to ? 0 : 16 * (1 + 7 * from + 3 * to)));
    collective.bytes = std::max(collective.bytes, held_by(collective, from));
  }
  return collective;
}

// By every algorithm that can do it; every byte of the results is looked at.
TEST(NetworkCollectives, BringTheResultByEveryAlgorithm) {
  auto catalogue = lanewise::test::bundled();
  for (auto const& one : cases()) {
    Model const model(catalogue.machine(one.machine));
    for (auto const op : {CollectiveOp::Broadcast, CollectiveOp::Scatter, CollectiveOp::Gather, CollectiveOp::AllGather,
                          CollectiveOp::ReduceScatter, CollectiveOp::Reduce, CollectiveOp::AllReduce,
                          CollectiveOp::AllToAll, CollectiveOp::AllToAllV, CollectiveOp::Chain})
      for (auto const bytes : {Bytes(1 << 10), Bytes(3 << 20)}) {
        // More than a message each way, in what takes all ways of moving; the others differ in where bytes go.
        if (bytes > Bytes(1 << 20) && op != CollectiveOp::AllReduce && op != CollectiveOp::AllToAll) continue;
        auto const collective = collective_of(model.machine(), op, one.among, bytes);
        auto const plans = plans_of_collective(model, collective, Keep::All, Detail::EveryStep);
        ASSERT_FALSE(plans.empty());
        for (auto const& plan : plans) {
          SCOPED_TRACE(testing::Message() << one.machine << " " << to_string(op) << " of " << bytes.value() << " by "
                                          << to_string(plan.collective->algorithm));
          Rig rig(make_network_plan(plan, model, {{0, 1}, {}}), one.ranks);
          rig.run(2);
          rig.expect_all_arrived();
          if (testing::Test::HasFailure()) return;
        }
      }
  }
}

// Data of GPUs go chunk by chunk through rings of host memory, and sums are made of what the rings bring. With a GPU in
// each node no step is the GPUs' own.
TEST(NetworkCollectives, OfGpusGoThroughRings) {
  auto catalogue = lanewise::test::bundled();
  Model const model(catalogue.machine("h100x1-cloud-2"));
  for (auto const op : {CollectiveOp::Broadcast, CollectiveOp::Reduce, CollectiveOp::AllGather,
                        CollectiveOp::ReduceScatter, CollectiveOp::AllReduce, CollectiveOp::AllToAll})
    for (auto const bytes : {Bytes(1 << 10), Bytes(3 << 20)}) {
      auto const collective = collective_of(model.machine(), op, {"node0/gpu0", "node1/gpu0"}, bytes);
      for (auto const& plan : plans_of_collective(model, collective, Keep::All, Detail::EveryStep)) {
        SCOPED_TRACE(testing::Message() << to_string(op) << " of " << bytes.value() << " by "
                                        << to_string(plan.collective->algorithm));
        auto const lowered = make_network_plan(plan, model, {{0, 1}, {}});
        EXPECT_EQ(lowered.carrier, Carrier::Mpi);
        auto const& steps = lowered.steps;
        if (std::any_of(steps.begin(), steps.end(), [](auto const& step) { return step.verb == Verb::Device; }))
          continue;
        EXPECT_TRUE(
            std::all_of(steps.begin(), steps.end(), [](auto const& step) { return step.staging == Staging::Chunks; }));
        Rig rig(lowered, {{0}, {1}});
        rig.run(2);
        rig.expect_all_arrived();
        if (testing::Test::HasFailure()) return;
      }
    }
}

// A test of the test: a sum that leaves one participant out is found.
TEST(NetworkCollectives, AWrongSumIsFound) {
  auto catalogue = lanewise::test::bundled();
  Model const model(catalogue.machine("soft-roce-3"));
  auto const collective = collective_of(model.machine(), CollectiveOp::AllReduce, cases()[0].among, Bytes(1 << 12));
  auto plan = plan_collective(model, collective, Detail::EveryStep);
  auto lowered = make_network_plan(plan, model, {{0, 1}, {}});
  auto const first =
      std::find_if(lowered.steps.begin(), lowered.steps.end(), [](auto const& step) { return step.reduces; });
  ASSERT_NE(first, lowered.steps.end());
  first->reduces = false;
  first->verb = Verb::Read;
  Rig rig(lowered, cases()[0].ranks);
  rig.run();
  EXPECT_EQ(rig.wrong_bytes().size(), 3U) << "every participant has it";
}

TEST(NetworkCollectives, SumsOfPartsOfElementsAreRefused) {
  auto catalogue = lanewise::test::bundled();
  Model const model(catalogue.machine("soft-roce-3"));
  auto collective = collective_of(model.machine(), CollectiveOp::AllReduce, cases()[0].among, Bytes(960));
  collective.bytes = Bytes(1002);
  auto const plan = plan_collective(model, collective, Detail::EveryStep);
  try {
    make_network_plan(plan, model, {{0, 1}, {}});
    FAIL() << "it would be run";
  } catch (PlanError const& error) {
    EXPECT_NE(std::string(error.what()).find("elements of 4 bytes"), std::string::npos) << error.what();
  }
}

// Contents begin and end anywhere; sums are of whole elements.
TEST(NetworkCollectives, ContentsAreFilledAndFoundWhereverTheyBegin) {
  for (std::int64_t const from : {0, 4, 8, 3, 17})
    for (std::int64_t const bytes : {0, 1, 7, 8, 64, 101}) {
      std::vector<std::byte> buffer(256, std::byte{0});
      MemoryContent const content{40, bytes, from, 2, 1};
      fill(buffer.data(), content);
      EXPECT_FALSE(mismatch(buffer.data(), content));
      for (std::int64_t i = 0; i < bytes; ++i)
        EXPECT_EQ(std::to_integer<int>(buffer[static_cast<std::size_t>(40 + i)]),
                  pattern_byte(seed_of(2), static_cast<std::uint64_t>(from + i)));
      EXPECT_EQ(buffer[39], std::byte{0});
      EXPECT_EQ(buffer[static_cast<std::size_t>(40 + bytes)], std::byte{0});
      if (bytes == 0) continue;
      buffer[static_cast<std::size_t>(40 + bytes - 1)] ^= std::byte{1};
      auto const wrong = mismatch(buffer.data(), content);
      ASSERT_TRUE(wrong);
      EXPECT_EQ(wrong->offset, static_cast<std::uint64_t>(40 + bytes - 1));
    }
}

}  // namespace
}  // namespace lanewise::hw
