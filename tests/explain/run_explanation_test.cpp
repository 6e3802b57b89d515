// What `why SCENARIO` says, as text and as JSON.
#include "lanewise/explain/run_explanation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/why_run_text.hpp"
#include "lanewise/planner/jobs/job_set.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/estimating_executor.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::HasSubstr;

// A kernel of 3 ms on gpu0, and a write that waits for it.
RunExplanation explanation_of(Model const& model) {
  auto const place = [&](std::string const& name) { return model.machine().place(name); };
  std::vector<Job> const jobs{
      {"kernel", Compute{{place("gpu0")}, 3000.0_us}, {}},
      {"out", Request{.from = place("gpu0"), .to = place("gpu2"), .bytes = 64_MiB, .only = Mechanism::PcieP2p}, {0}}};
  auto const replan = [jobs](Model const& other) { return plan_job_set(other, {jobs}, {Objective::Each}); };
  auto const plan = replan(model);
  auto trace = test::estimated(model, plan);
  trace.resources.push_back({"gpu0.pcie.up", 0.5});
  return explain_run(plan, trace, model,
                     {replan, [](Model const& other) { return std::make_unique<EstimatingExecutor>(other); }});
}

TEST(WhyRun, JsonFollowsThePathAndSaysWhatIsNarrow) {
  Model const model(test::machine_of({.more_gpu = "copy_engines: 2"}));
  auto const json = why_run_json(explanation_of(model), model.machine());
  EXPECT_EQ(json["lanewise"], "why_run/1");
  EXPECT_GE(json["makespan_us"].get<double>(), json["bound_us"].get<double>());
  ASSERT_EQ(json["critical_path"].size(), 2U);
  EXPECT_EQ(json["critical_path"][0]["transfer"], "kernel");
  EXPECT_EQ(json["critical_path"][0]["waited_for"], "nothing");
  EXPECT_NEAR(json["critical_path"][0]["end_us"].get<double>(), 3000, 1e-6);
  EXPECT_EQ(json["critical_path"][1]["transfer"], "out");
  EXPECT_EQ(json["critical_path"][1]["from"], "gpu0");
  EXPECT_EQ(json["critical_path"][1]["end_us"], json["makespan_us"]);
  // First a GPU computes, then its link is full.
  EXPECT_NEAR(json["phases"].front()["gpus_computing"].get<double>(), 1, 1e-6);
  EXPECT_THAT(json["phases"].back()["busiest"].get<std::string>(), HasSubstr("pcie"));
  EXPECT_GT(json["phases"].back()["utilisation"].get<double>(), 0.9);
  ASSERT_FALSE(json["wider"].empty());
  for (auto const& wider : json["wider"]) EXPECT_LE(wider["run_ratio"].get<double>(), 1 + 1e-9);
}

TEST(WhyRun, TextHasThePathThePhasesAndWhatWouldHelp) {
  Model const model(test::machine_of({.more_gpu = "copy_engines: 2"}));
  auto const text = why_run_text(explanation_of(model), model.machine());
  for (auto const* part : {"Critical path", "out gpu0 > gpu2", "What was busiest when", "What would help"})
    EXPECT_THAT(text, HasSubstr(part));
}

// All targets of the first, then all of the second: copies of one engine collide at their targets in most orders.
std::vector<Request> all_to_all(Machine const& machine, int gpus) {
  std::vector<Request> requests;
  for (int from = 0; from < gpus; ++from)
    for (int to = 0; to < gpus; ++to)
      if (from != to)
        requests.push_back({.id = fmt::format("{}-{}", from, to),
                            .from = machine.place(fmt::format("gpu{}", from)),
                            .to = machine.place(fmt::format("gpu{}", to)),
                            .bytes = 64_MiB});
  return requests;
}

RunExplanation explained_set(Model const& model, std::vector<Request> const& requests) {
  auto const replan = [requests](Model const& other) {
    return SetPlanner(other).plan(requests, {Objective::Makespan});
  };
  auto const plan = replan(model);
  return explain_run(plan, test::estimated(model, plan), model,
                     {replan, [](Model const& other) { return std::make_unique<EstimatingExecutor>(other); }});
}

TEST(WhyRun, SaysWhatTheOrderGainsOverOrdersThatNobodyFixes) {
  Model const model(test::bundled().machine("h200x4-vm"));
  auto const explanation = explained_set(model, all_to_all(model.machine(), 4));
  ASSERT_TRUE(explanation.unordered);
  auto const& any = *explanation.unordered;
  EXPECT_LE(any.fastest, any.mean);
  EXPECT_LE(any.mean, any.slowest);
  // Four GPUs keep 0.56 to 0.64 of their ports in orders that nobody fixes.
  EXPECT_GT(any.mean / explanation.trace.makespan, 1.4);
  EXPECT_LT(any.mean / explanation.trace.makespan, 2.1);
  auto const json = why_run_json(explanation, model.machine());
  EXPECT_NEAR(json["unordered"]["gain"].get<double>(), any.mean / explanation.trace.makespan, 1e-9);
  EXPECT_THAT(why_run_text(explanation, model.machine()), HasSubstr("in orders that nobody fixes"));
}

// A NIC reads a GPU on the other socket at what the sockets' root ports carry in small packets, alone or behind another
// transfer. Whatever is widened with effect on the bound holds a part of it.
TEST(WhyRun, WhatHelpsTheBoundHoldsPartOfIt) {
  Model const model(test::bundled().machine("a100x8-pcie-4sw"));
  auto const gpu = model.machine().place("gpu0");
  auto const nic = model.machine().place("nic2");
  Request const direct{.id = "direct", .from = gpu, .to = nic, .bytes = 256_MiB, .only = Mechanism::Gdr};
  Request behind = direct;
  behind.id = "behind";
  behind.after = {0};
  for (auto const& requests : {std::vector{direct}, std::vector{direct, behind}}) {
    auto const explanation = explained_set(model, requests);
    std::size_t effective = 0;
    for (auto const& wider : explanation.upgrades) {
      if (wider.bound > 0.99) continue;
      EXPECT_GT(wider.share, 0.01) << wider.what;
      ++effective;
    }
    EXPECT_GT(effective, 0U);
  }
}

// A search on the wider machine by itself ends with a plan that takes 7 % longer.
TEST(WhyRun, NothingTakesLongerWhereItIsWider) {
  Model const model(test::bundled().machine("hgx-h100-4gpu"));
  auto const gpu0 = model.machine().place("gpu0");
  auto const gpu3 = model.machine().place("gpu3");
  auto const upgrades =
      explained_set(model, {{.id = "a", .from = gpu0, .to = gpu3, .bytes = 64_MiB, .any_mover = true},
                            {.id = "b", .from = gpu3, .to = gpu0, .bytes = 64_MiB, .any_mover = true}})
          .upgrades;
  ASSERT_FALSE(upgrades.empty());
  for (auto const& wider : upgrades) EXPECT_LE(wider.run, 1 + 1e-9) << wider.what;
}

TEST(WhyRun, SaysNothingOfTheOrderWhereThereIsNone) {
  Model const model(test::bundled().machine("h200x4-vm"));
  auto requests = all_to_all(model.machine(), 2);
  EXPECT_FALSE(explained_set(model, requests).unordered) << "one copy an engine";
  EXPECT_FALSE(explanation_of(Model(test::machine_of({.more_gpu = "copy_engines: 2"}))).unordered) << "a step waits";
}

}  // namespace
}  // namespace lanewise
