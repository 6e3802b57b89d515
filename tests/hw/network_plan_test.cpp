// A plan as its processes get it.
#include "hw/network/network_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/network/layout.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::hw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class WirePlans : public testing::Test {
 protected:
  // Of a scenario's `transfers`, on a bundled machine with settings.
  NetworkPlan lowered(std::string const& machine, std::string const& transfers,
                      std::vector<Setting> const& settings = {}) {
    auto catalogue = lanewise::test::bundled();
    auto of = catalogue.machine(machine);
    for (auto const& setting : settings) apply_setting(of, setting, catalogue);
    Model const model(std::move(of));
    auto const scenario = read_scenario(SourceText::from_memory(
        "s.yaml", "lanewise: scenario/1\nscenario: s\nmachines: [" + machine + "]\ntransfers:\n" + transfers));
    auto const plan = plan_of(scenario, model, {Objective::Each});
    return make_network_plan(plan, model, {{2, 5}, {}});
  }
  std::string refusal(std::string const& machine, std::string const& transfers,
                      std::vector<Setting> const& settings = {}) {
    try {
      lowered(machine, transfers, settings);
    } catch (Error const& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(WirePlans, HostMemoryIsWrittenByTheNearestNics) {
  auto const plan = lowered("soft-roce-2", "  - {id: t, from: node0/numa1, to: node1/numa1, bytes: 1 MiB}\n");
  EXPECT_THAT(plan.nodes, ElementsAre("node0", "node1"));
  ASSERT_THAT(plan.steps, SizeIs(1));
  auto const& step = plan.steps[0];
  EXPECT_EQ(step.verb, Verb::Write);
  EXPECT_EQ(step.staging, Staging::None);
  EXPECT_EQ(step.from.numa, 1);
  EXPECT_LT(step.from.gpu, 0);
  EXPECT_EQ(plan.nics[step.nic_from[0]].name, "node0/nic2");
  EXPECT_EQ(plan.nics[step.nic_from[0]].function, "nic2");
  EXPECT_EQ(plan.nics[step.nic_to[0]].name, "node1/nic2");
  EXPECT_EQ(plan.nics[step.nic_to[0]].place, 2);
  ASSERT_THAT(step.nic_from, SizeIs(2)) << "another rail to go on with";
  EXPECT_EQ(plan.nics[step.nic_from[1]].place, plan.nics[step.nic_to[1]].place);
  EXPECT_EQ(plan.warm_up, 2);
  EXPECT_EQ(plan.repeat, 5);
}

TEST_F(WirePlans, DrivesServeTheGpusOfTheirNode) {
  auto catalogue = lanewise::test::bundled();
  Model const model(catalogue.machine("hgx-h100-2"));
  auto const scenario = read_scenario(SourceText::from_memory(
      "s.yaml",
      "lanewise: scenario/1\nscenario: s\nmachines: [hgx-h100-2]\ntransfers:\n"
      "  - {id: in, from: node1/nvme0, to: node1/gpu0, bytes: 1 MiB, mechanism: storage_staged}\n"
      "  - {id: on, from: node1/gpu0, to: node0/gpu0, bytes: 1 MiB, after: [in]}\n"));
  auto const plan = plan_of(scenario, model, {Objective::Each});
  auto const lowered = make_network_plan(plan, model, {{}, {{"node1/nvme0", "/data"}, {"node0/nvme1", "/other"}}});
  EXPECT_EQ(lowered.steps[0].verb, Verb::Device);
  EXPECT_THAT(lowered.node_plans[0].drives, IsEmpty());  // its GPUs do nothing by themselves
  EXPECT_THAT(lowered.node_plans[1].drives, ElementsAre(DrivePath{"nvme0", "/data"}));
  EXPECT_EQ(network_plan_from_text(to_text(lowered)), lowered);
  EXPECT_THROW(make_network_plan(plan, model, {{}, {{"nvme0", "/data"}}}), InputError);
}

TEST_F(WirePlans, TheOpIsTheVerb) {
  auto const plan = lowered("soft-roce-2",
                            "  - {id: w, from: node0/numa0, to: node1/numa0, bytes: 8 B, op: write}\n"
                            "  - {id: r, from: node0/numa0, to: node1/numa0, bytes: 8 B, op: read, after: [w]}\n"
                            "  - {id: s, from: node0/numa0, to: node1/numa0, bytes: 8 B, op: send, queue_pairs: 3}\n"
                            "  - {id: l, from: node0/numa0, to: node0/numa1, bytes: 8 B}\n");
  EXPECT_EQ(plan.steps[0].verb, Verb::Write);
  EXPECT_EQ(plan.steps[1].verb, Verb::Read);
  EXPECT_THAT(plan.steps[1].after, ElementsAre(0));
  EXPECT_EQ(plan.steps[2].verb, Verb::Send);
  EXPECT_EQ(plan.steps[2].queue_pairs, 3);
  EXPECT_EQ(plan.steps[3].verb, Verb::Local);
}

TEST_F(WirePlans, GpuMemoryIsReachedByGpudirectOrThroughARing) {
  auto const direct = lowered("a30-2", "  - {id: t, from: node0/gpu0, to: node1/gpu2, bytes: 1 MiB, mechanism: gdr}\n");
  EXPECT_EQ(direct.steps[0].staging, Staging::None);
  EXPECT_EQ(direct.steps[0].from.gpu, 0);
  EXPECT_EQ(direct.steps[0].to.gpu, 2);
  auto const staged =
      lowered("a30-2", "  - {id: t, from: node0/gpu0, to: node1/gpu0, bytes: 64 MiB, mechanism: net_staged}\n");
  EXPECT_EQ(staged.steps[0].staging, Staging::Chunks);
  EXPECT_GT(staged.steps[0].slots, 1);
  EXPECT_LT(staged.steps[0].chunk, staged.steps[0].bytes);
  ASSERT_THAT(staged.steps[0].ring_from, SizeIs(1));
  EXPECT_LT(staged.steps[0].ring_from[0].gpu, 0) << "pinned host memory";
  EXPECT_THAT(staged.steps[0].ring_to, SizeIs(1));
  auto const shared =
      lowered("a30-2", "  - {id: t, from: node0/gpu0, to: node1/numa0, bytes: 64 MiB, mechanism: shared_host}\n");
  EXPECT_EQ(shared.steps[0].slots, 1) << "one buffer for both devices";
  EXPECT_EQ(shared.steps[0].chunk, shared.steps[0].bytes);
  EXPECT_THAT(shared.steps[0].ring_to, IsEmpty()) << "host memory needs none";
}

TEST_F(WirePlans, OneQueuePairOrAsManyAsFillThePort) {
  auto const transfer = std::string("  - {id: t, from: node0/gpu0, to: node1/gpu0, bytes: 1 MiB");
  EXPECT_EQ(lowered("hgx-h100-2", transfer + ", queue_pairs: 1}\n").steps[0].queue_pairs, 1);
  EXPECT_GE(lowered("hgx-h100-2", transfer + "}\n").steps[0].queue_pairs, 2);
}

TEST_F(WirePlans, WhatIsNotOfTheNetworkIsRefusedWithItsReason) {
  EXPECT_THAT(refusal("hgx-h100-2",
                      "  - {id: t, from: node0/gpu0, to: node1/gpu1, bytes: 1 MiB}\n"
                      "  - {id: u, from: node0/numa0, to: node1/numa0, bytes: 1 MiB}\n"),
              "");
  EXPECT_THAT(refusal("a30-2", "  - {id: t, from: node0/numa0, to: node0/nic0, bytes: 1 MiB}\n"),
              HasSubstr("a wire has no other end here"));
  auto const async = std::string(
      "  - {id: a, from: node0/numa0, to: node0/numa1, bytes: 1 MiB}\n"
      "  - {id: b, from: node0/gpu0, to: node1/gpu0, bytes: 1 MiB, after: [a], mechanism: gdr}\n");
  EXPECT_THAT(refusal("a30-2", async), "");
  EXPECT_THAT(refusal("a30-2", async, {parse_setting("software.gpudirect_async=true")}), HasSubstr("needs libgdsync"));
}

TEST_F(WirePlans, SurviveTheirText) {
  auto const plan = lowered("a30-2",
                            "  - {id: t, from: node0/gpu0, to: node1/gpu0, bytes: 64 MiB, mechanism: net_staged}\n"
                            "  - {id: u, from: node1/numa0, to: node0/numa0, bytes: 3 B, op: send, after: [t]}\n");
  EXPECT_EQ(network_plan_from_text(to_text(plan)), plan);
}

// -------------------------------------------------------------------------------------------------------------- layout

TEST_F(WirePlans, StepsBetweenTheSameNicsShareALinkInBothDirections) {
  auto const plan = lowered("soft-roce-2",
                            "  - {id: a, from: node0/numa1, to: node1/numa1, bytes: 8 MiB, queue_pairs: 4}\n"
                            "  - {id: b, from: node1/numa1, to: node0/numa1, bytes: 8 B, after: [a]}\n"
                            "  - {id: c, from: node1/numa1, to: node0/numa1, bytes: 8 B, op: send}\n");
  auto const layout = layout_of(plan, {{0}, {1}});
  EXPECT_EQ(layout.steps[0].links, layout.steps[1].links);
  EXPECT_EQ(layout.links[index(layout.steps[0].links[0])].queues, 4);
  EXPECT_NE(layout.steps[2].links[0], layout.steps[0].links[0]) << "messages have a link of their own";
  EXPECT_THAT(layout.steps[0].listeners, IsEmpty()) << "what is written announces itself";
}

TEST_F(WirePlans, WhoReadsTellsWhoWaits) {
  auto const plan = lowered("soft-roce-2",
                            "  - {id: a, from: node0/numa1, to: node1/numa1, bytes: 8 B, op: read}\n"
                            "  - {id: b, from: node0/numa1, to: node1/numa1, bytes: 8 B, after: [a]}\n");
  auto const layout = layout_of(plan, {{0}, {1}});
  EXPECT_EQ(layout.steps[0].driver, 1);
  EXPECT_THAT(layout.steps[0].listeners, ElementsAre(0));
}

}  // namespace
}  // namespace lanewise::hw
