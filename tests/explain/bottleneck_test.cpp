// Why a run took so long, where it can be followed by hand: times as the planner estimates them.
#include "lanewise/explain/bottleneck.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/explain/upgrades.hpp"
#include "lanewise/planner/jobs/job_set.hpp"
#include "tests/support/estimating_executor.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;

using test::estimated;

Model const& linked_server() {
  static Model const model(test::machine_of({.more_gpu = "copy_engines: 2, peer_copy_engines: 2"}));
  return model;
}
Place at(std::string const& name) { return linked_server().machine().place(name); }
Request push(std::string const& from, std::string const& to) {
  return {.from = at(from), .to = at(to), .bytes = 64_MiB, .only = Mechanism::PcieP2p};
}
Plan planned(Model const& model, std::vector<Job> jobs) {
  return plan_job_set(model, {std::move(jobs)}, {Objective::Each});
}

TEST(CriticalPath, FollowsWhatEachStepWaitedFor) {
  auto const plan = planned(linked_server(), {{"short", Compute{{at("gpu0")}, 10.0_us}, {}},
                                              {"long", Compute{{at("gpu0")}, 30.0_us}, {}},
                                              {"out", push("gpu0", "gpu2"), {0, 1}}});
  auto const path = critical_path(plan, estimated(linked_server(), plan), linked_server());
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(plan.steps[index(path[0].step)].transfer, "short");
  EXPECT_EQ(path[0].waited, WaitedFor::Nothing);
  EXPECT_EQ(plan.steps[index(path[1].step)].transfer, "long");
  EXPECT_EQ(path[1].waited, WaitedFor::Engine);
  EXPECT_EQ(path[1].engine, "gpu0.multiprocessors");
  EXPECT_EQ(plan.steps[index(path[2].step)].transfer, "out");
  EXPECT_EQ(path[2].waited, WaitedFor::Step);
  EXPECT_TRUE(path[2].shared.empty());
}

TEST(CriticalPath, NamesWhatAStepShared) {
  auto const plan = planned(
      linked_server(),
      {{"a", push("gpu0", "gpu2"), {}}, {"b", push("gpu0", "gpu3"), {}}, {"work", Compute{{at("gpu1")}, 1.0_us}, {}}});
  auto const path = critical_path(plan, estimated(linked_server(), plan), linked_server());
  ASSERT_EQ(path.size(), 1U);
  EXPECT_NEAR((path[0].end - path[0].start) / path[0].alone, 2, 0.01);
  EXPECT_FALSE(path[0].shared.empty());
}

// Computing for a while, then a copy over a full link: two phases whose parts add up to the run.
TEST(Phases, TellComputingFromMoving) {
  auto const plan = planned(linked_server(),
                            {{"work", Compute{{at("gpu0")}, Seconds(5e-3)}, {}}, {"out", push("gpu0", "gpu2"), {0}}});
  auto const trace = estimated(linked_server(), plan);
  auto const phases = phases_of(plan, trace, linked_server());
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_FALSE(phases[0].kind);
  EXPECT_NEAR(phases[0].computing, 1, 1e-9);
  EXPECT_EQ(phases[1].kind, ResourceKind::PcieLink);
  EXPECT_EQ(phases[1].start, phases[0].end);
  EXPECT_NEAR(phases[1].end.value(), trace.makespan.value(), 1e-12);
  auto const moved = phases[1].rate.value() * (phases[1].end - phases[1].start).value();
  EXPECT_NEAR(moved, static_cast<double>((64_MiB).value()), 1e6 * 0.001);
}

// Two copies out of one GPU: its link twice as wide halves them, and nothing else on the machine does.
TEST(Widenings, ArePlannedAndRunAgain) {
  std::vector<Job> const jobs{
      {"a", push("gpu0", "gpu2"), {}}, {"b", push("gpu0", "gpu1"), {}}, {"work", Compute{{at("gpu1")}, 1.0_us}, {}}};
  auto const plan = planned(linked_server(), jobs);
  auto const trace = estimated(linked_server(), plan);
  auto const path = critical_path(plan, trace, linked_server());
  auto const list = upgrades(plan, trace, path, linked_server(),
                             {[&](Model const& model) { return planned(model, jobs); },
                              [](Model const& model) { return std::make_unique<EstimatingExecutor>(model); }});
  ASSERT_FALSE(list.empty());
  EXPECT_NEAR(list.front().run, 0.5, 0.05);
  EXPECT_EQ(list.front().what, "all pcie_link");
  for (auto const& wider : list) EXPECT_LE(wider.bound, 1 + 1e-9) << wider.what;
}

}  // namespace
}  // namespace lanewise
