// The protocol of a run between processes, over a network in memory.
#include "hw/network/network_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/io/error.hpp"
#include "tests/hw/network_rig.hpp"

namespace lanewise::hw {
namespace {

using test::Rig;
using testing::HasSubstr;

constexpr std::int64_t kMiB = 1 << 20;
// Two nodes with two NICs each, or more of them.
NetworkPlan nodes(int count) {
  NetworkPlan plan;
  for (int node = 0; node < count; ++node) {
    plan.nodes.push_back("node" + std::to_string(node));
    for (int nic = 0; nic < 2; ++nic) {
      NetworkNic added;
      added.name = plan.nodes.back() + "/nic" + std::to_string(nic);
      added.node = static_cast<std::size_t>(node);
      added.place = nic;
      plan.nics.push_back(added);
    }
  }
  return plan;
}

// From a node's memory to another's over NIC 0 of both.
NetworkStep step(std::size_t from, std::size_t to, std::int64_t bytes, Verb verb = Verb::Write) {
  NetworkStep step;
  step.transfer = "t";
  step.verb = from == to ? Verb::Local : verb;
  step.bytes = bytes;
  step.from_node = from;
  step.to_node = to;
  if (from == to) return step;
  step.nic_from = {2 * from};
  step.nic_to = {2 * to};
  return step;
}

NetworkStep with_spare(NetworkStep step) {
  step.nic_from.push_back(step.nic_from.front() + 1);
  step.nic_to.push_back(step.nic_to.front() + 1);
  return step;
}

NetworkStep after(NetworkStep step, std::vector<std::size_t> before) {
  step.after = std::move(before);
  return step;
}

TEST(NetworkRun, EveryVerbBringsEveryByte) {
  for (auto const verb : {Verb::Write, Verb::Read, Verb::Send})
    for (std::int64_t const bytes : {std::int64_t{1}, std::int64_t{8}, kMiB - 1, kMiB, 3 * kMiB + 17})
      for (int const queue_pairs : {1, 2, 4}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(verb) << " " << bytes << " " << queue_pairs);
        auto plan = nodes(2);
        plan.steps.push_back(step(0, 1, bytes, verb));
        plan.steps.back().queue_pairs = queue_pairs;
        Rig rig(std::move(plan));
        rig.run(3);
        rig.expect_all_arrived();
      }
}

TEST(NetworkRun, MoreRequestsThanAQueueHoldsWaitTheirTurn) {
  auto plan = nodes(2);
  for (int i = 0; i < 100; ++i) plan.steps.push_back(step(i % 2 == 0 ? 0 : 1, i % 2 == 0 ? 1 : 0, 40));
  plan.steps.push_back(step(0, 1, 40 * kMiB));
  Rig rig(std::move(plan));
  rig.set_depth({16, 128});
  rig.run(2);
  rig.expect_all_arrived();
}

TEST(NetworkRun, StepsWaitForOthersWhereverThoseEnd) {
  auto plan = nodes(3);
  plan.steps = {step(0, 1, 100),
                after(step(1, 2, 100), {0}),
                after(step(2, 0, 100, Verb::Read), {1}),
                after(step(0, 1, 100), {2}),
                after(step(2, 2, 100), {0}),
                after(step(2, 1, 100, Verb::Send), {4, 3})};
  Rig rig(std::move(plan), {{0}, {1}, {2}});
  rig.run(2);
  rig.expect_all_arrived();
  // 0 begins each chain; 2 is read by node 0 once node 2 or 1 has notified it.
  EXPECT_GE(rig.span(1).start.value(), rig.span(0).start.value());
  EXPECT_GE(rig.span(3).start.value(), rig.span(2).end.value()) << "both are of process 0";
  EXPECT_GE(rig.span(5).start.value(), rig.span(4).end.value()) << "both are of process 2";
}

TEST(NetworkRun, StepsOfANodeGoRoundAmongItsProcesses) {
  auto plan = nodes(2);
  for (int i = 0; i < 6; ++i)
    plan.steps.push_back(after(step(i % 2, 1 - i % 2, 5000),
                               i == 0 ? std::vector<std::size_t>{} : std::vector{static_cast<std::size_t>(i - 1)}));
  Rig rig(std::move(plan), {{0, 2}, {1, 3}});
  rig.run();
  rig.expect_all_arrived();
}

TEST(NetworkRun, ChunksGoThroughRingsAtEitherEnd) {
  for (bool const at_source : {false, true})
    for (bool const at_target : {false, true})
      for (std::int64_t const slots : {1, 3}) {
        SCOPED_TRACE(testing::Message() << at_source << at_target << slots);
        auto plan = nodes(2);
        auto staged = step(0, 1, 100'001);
        staged.staging = Staging::Chunks;
        staged.chunk = slots == 1 ? 100'001 : 7'000;
        staged.slots = slots;
        if (at_source) staged.ring_from.resize(1);
        if (at_target) staged.ring_to.resize(1);
        plan.steps = {staged, after(step(1, 0, 8), {0})};
        Rig rig(std::move(plan));
        rig.run(2);
        rig.expect_all_arrived();
      }
}

TEST(NetworkRun, AStepGoesOnOverItsOtherLink) {
  for (auto const verb : {Verb::Write, Verb::Read, Verb::Send}) {
    SCOPED_TRACE(static_cast<int>(verb));
    auto plan = nodes(2);
    plan.steps = {with_spare(step(0, 1, 5 * kMiB, verb)), after(step(1, 1, 10), {0})};
    Rig rig(std::move(plan));
    rig.network().break_link(rig.layout().steps[0].links[0], 3);
    rig.run(2);
    rig.expect_all_arrived();
    ASSERT_EQ(rig.faults().size(), 1U) << "once; the second run begins with the other link";
    EXPECT_THAT(rig.faults()[0],
                HasSubstr("link 0, queue pair 0: transport retry counter exceeded; step 't' went over"));
  }
}

TEST(NetworkRun, WhatWasToldGoesOnToo) {
  // Step 0 is read by node 1; node 0 waits for it, and is notified over the link that breaks with that very request.
  auto plan = nodes(2);
  plan.steps = {with_spare(step(0, 1, 100, Verb::Read)), after(step(0, 1, 100), {0})};
  plan.steps[1].nic_from = {1};
  plan.steps[1].nic_to = {3};
  Rig rig(std::move(plan));
  rig.network().break_link(rig.layout().steps[0].links[0], 2);
  rig.run();
  rig.expect_all_arrived();
}

TEST(NetworkRun, WithoutAnotherLinkTheErrorNamesStepAndQueuePair) {
  auto plan = nodes(2);
  plan.steps = {step(0, 1, 5 * kMiB)};
  plan.steps[0].text = "rdma";
  Rig rig(std::move(plan));
  rig.network().break_link(LinkId(0), 2);
  rig.run();
  EXPECT_THAT(rig.errors()[0], HasSubstr("step 't' (rdma): link 0, queue pair 0: transport retry counter exceeded"));
  EXPECT_THAT(rig.errors()[1], HasSubstr("another process failed"));
}

TEST(NetworkRun, ARingHasNoOtherLink) {
  auto plan = nodes(2);
  auto staged = with_spare(step(0, 1, 10'000));
  staged.staging = Staging::Chunks;
  staged.chunk = 1'000;
  staged.slots = 2;
  staged.ring_from.resize(1);
  plan.steps = {staged};
  Rig rig(std::move(plan));
  rig.network().break_link(LinkId(0), 4);
  rig.run();
  EXPECT_THAT(rig.errors()[0], HasSubstr("transport retry counter exceeded"));
}

TEST(NetworkRun, LatenessIsAnErrorOfAllAndNamesWhatIsMissing) {
  auto plan = nodes(2);
  plan.steps = {step(0, 1, 10), after(step(1, 0, 10), {0})};
  Rig rig(std::move(plan));
  rig.network().swallow(LinkId(0));
  rig.run();
  EXPECT_THAT(rig.errors(),
              testing::Contains(HasSubstr("step 't' () over link 0, queue pair 0: nothing moved for 2 s")));
}

}  // namespace
}  // namespace lanewise::hw
