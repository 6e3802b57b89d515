// Properties of every plan of a set, on small machines and bundled ones.
#include "lanewise/planner/search/set_planner.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "core/solver/linear_program.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "tests/support/server.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise {
namespace {

using namespace literals;

Machine bundled_machine(std::string const& name) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue.machine(name);
}

std::vector<Request> all_to_all(Machine const& machine, Bytes bytes) {
  std::vector<Request> requests;
  auto const gpus = machine.all(PciKind::Gpu);
  for (auto const from : gpus)
    for (auto const to : gpus)
      if (from != to)
        requests.push_back(
            {.id = machine.at(from).name + "-" + machine.at(to).name, .from = from, .to = to, .bytes = bytes});
  return requests;
}

std::vector<Request> exchange_by_any_mover(Machine const& machine) {
  auto const gpu0 = machine.place("gpu0");
  auto const gpu3 = machine.place("gpu3");
  return {{.id = "forth", .from = gpu0, .to = gpu3, .bytes = 64_MiB, .any_mover = true},
          {.id = "back", .from = gpu3, .to = gpu0, .bytes = 64_MiB, .any_mover = true}};
}

// Every byte of every transfer moves exactly once, between the right places, after all transfers that it waits for.
void expect_complete(Plan const& plan, std::vector<Request> const& requests, Machine const& machine) {
  plan.verify(machine);
  ASSERT_EQ(plan.decisions.size(), requests.size());
  std::vector<std::vector<StepId>> steps(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto const& decision = plan.decisions[i];
    EXPECT_EQ(decision.transfer, requests[i].id);
    steps[i] = {decision.step};
    for (auto const& piece : decision.others) steps[i].push_back(piece.step);
    std::map<std::int64_t, std::int64_t> pieces;
    for (auto const id : steps[i]) {
      auto const& step = plan.steps[index(id)];
      EXPECT_EQ(step.from, requests[i].from);
      EXPECT_EQ(step.to, requests[i].to);
      EXPECT_TRUE(pieces.emplace(step.offset.value(), step.bytes.value()).second);
    }
    std::int64_t next = 0;
    for (auto const& [offset, bytes] : pieces) {
      EXPECT_EQ(offset, next);
      next += bytes;
    }
    EXPECT_EQ(next, requests[i].bytes.value());
    for (auto const id : steps[i])
      for (auto const before : requests[i].after)
        for (auto const first : steps[before]) EXPECT_THAT(plan.steps[index(id)].after, testing::Contains(first));
  }
}

double worst_slowdown(Model const& model, Plan const& plan) {
  auto const run = estimate(model, plan.steps);
  double worst = 0;
  for (auto const& decision : plan.decisions) {
    auto end = run.steps[index(decision.step)].end;
    for (auto const& piece : decision.others) end = std::max(end, run.steps[index(piece.step)].end);
    auto fastest = Seconds(1e9);
    for (auto const& candidate : decision.candidates)
      if (candidate.time) fastest = std::min(fastest, *candidate.time);
    worst = std::max(worst, end / fastest);
  }
  return worst;
}

TEST(SetPlanner, KeepsThePlanIfNothingImprovesIt) {
  Model const model(test::machine_of({}));
  auto const& machine = model.machine();
  std::vector<Request> const apart{{.id = "a",
                                    .from = machine.place("gpu0"),
                                    .to = machine.place("gpu1"),
                                    .bytes = 64_MiB,
                                    .only = Mechanism::PcieP2p}};
  EXPECT_EQ(SetPlanner(model).plan(apart, {Objective::Makespan}), Planner(model).plan(apart));
}

TEST(SetPlanner, PlansEachTransferByItselfIfAsked) {
  Model const model(bundled_machine("dgx-1-v100"));
  auto const requests = all_to_all(model.machine(), 16_MiB);
  EXPECT_EQ(SetPlanner(model).plan(requests, {Objective::Each}), Planner(model).plan(requests));
}

// A copy may use NVLink (90 GB/s) and PCIe (about 25 GB/s) at once.
TEST(SetPlanner, DividesALargeCopyAndNotASmallOne) {
  Model const model(
      test::machine_of({.more_gpu = "copy_engines: 3", .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 2}"}));
  auto const& machine = model.machine();
  Request request{.id = "a", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 1_GiB};
  auto const large = SetPlanner(model).plan({request}, {Objective::Makespan});
  EXPECT_FALSE(large.decisions[0].others.empty());
  expect_complete(large, {request}, machine);
  request.bytes = 64_KiB;
  EXPECT_TRUE(SetPlanner(model).plan({request}, {Objective::Makespan}).decisions[0].others.empty());
}

TEST(SetPlanner, DoesNotDivideCopiesByTheDriver) {
  Model const model(bundled_machine("gn5-8xp100"));
  auto const& machine = model.machine();
  std::vector<Request> requests;
  for (auto const* to : {"gpu1", "gpu2", "gpu3"})
    requests.push_back({.id = to,
                        .from = machine.place("gpu0"),
                        .to = machine.place(to),
                        .bytes = 256_MiB,
                        .only = Mechanism::HostStaged,
                        .by_driver = true});
  EXPECT_EQ(SetPlanner(model).plan(requests, {Objective::Makespan}).steps.size(), requests.size());
}

// Below one switch nothing is faster than the peer copy. Across sockets two ways through host memory together are.
TEST(SetPlanner, DividesOnlyTransfersThatGain) {
  Model const model(bundled_machine("a100x8-pcie-4sw"));
  auto const& machine = model.machine();
  std::vector<Request> const requests{
      {.id = "near", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 16_MiB},
      {.id = "far", .from = machine.place("gpu1"), .to = machine.place("gpu4"), .bytes = 16_MiB, .after = {0}}};
  auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
  expect_complete(plan, requests, machine);
  EXPECT_TRUE(plan.decisions[0].others.empty());
  EXPECT_EQ(plan.steps[index(plan.decisions[0].step)].way.mechanism, Mechanism::PcieP2p);
  EXPECT_LE(plan.decisions[1].others.size(), 2U);
}

// Eight GPUs on NVSwitch with three engines each. In the order of the list all begin with the same three targets.
TEST(SetPlanner, AvoidsContentionAtTheSameTargets) {
  Model const model(bundled_machine("hgx-h200"));
  auto const requests = all_to_all(model.machine(), 64_MiB);
  auto const each = estimate(model, SetPlanner(model).plan(requests, {Objective::Each}).steps).makespan;
  auto const together = SetPlanner(model).plan(requests, {Objective::Makespan});
  expect_complete(together, requests, model.machine());
  auto const time = estimate(model, together.steps).makespan;
  EXPECT_LT(time / each, 0.5);
  EXPECT_LT(lower_bound(together, model)->gap(time), 0.08);
}

// One xGMI link between every two GPUs is as fast as host memory, which is the best way of some transfers alone. That
// is no reason to keep the others from it.
TEST(SetPlanner, UsesHostMemoryBesideNvlinkWhereOneTransferAloneWould) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  Model const model(bundled_machine("mi300x-x8-thor2"));
  std::vector<Request> requests;
  for (int i = 0; i < 8; ++i)
    requests.push_back({.id = fmt::format("t{}", i),
                        .from = model.machine().place(fmt::format("gpu{}", i)),
                        .to = model.machine().place(fmt::format("gpu{}", (i + 1) % 8)),
                        .bytes = 64_MiB,
                        .any_mover = true});
  auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
  expect_complete(plan, requests, model.machine());
  EXPECT_LT(lower_bound(plan, model)->gap(estimate(model, plan.steps).makespan), 0.1);
  for (auto const& request : requests)
    EXPECT_TRUE(std::any_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) {
      return step.transfer == request.id && step.way.mechanism == Mechanism::HostStaged;
    })) << request.id;
}

// Two GPUs on NVSwitch. Host memory carries some bytes beside NVLink, unless a transfer needs it itself: measured, both
// are slow then.
TEST(SetPlanner, LeavesHostMemoryToTransfersThatNeedIt) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  Model const model(bundled_machine("h200x2-vm"));
  auto const& machine = model.machine();
  auto const gpu0 = machine.place("gpu0");
  auto const gpu1 = machine.place("gpu1");
  std::vector<Request> requests{{.id = "large", .from = gpu0, .to = gpu1, .bytes = 1_GiB},
                                {.id = "next", .from = gpu0, .to = gpu1, .bytes = 256_MiB},
                                {.id = "back", .from = gpu1, .to = gpu0, .bytes = 128_MiB}};
  auto const through_host = [&] {
    auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
    expect_complete(plan, requests, machine);
    return std::count_if(plan.steps.begin(), plan.steps.end(),
                         [](Step const& step) { return step.way.mechanism == Mechanism::HostStaged; });
  };
  EXPECT_GT(through_host(), 0);
  requests.push_back({.id = "out", .from = gpu1, .to = machine.place("numa0"), .bytes = 128_MiB});
  EXPECT_EQ(through_host(), 0);
}

// On a mesh of NVLink a transfer between two of four GPUs goes by the direct link and by relays; kernels through the
// same relays fill the gaps between chunks of copy engines.
TEST(SetPlanner, MovesPiecesByCopyEnginesAndByKernelsSideBySide) {
  Model const model(bundled_machine("hgx-h100-4gpu"));
  auto const& machine = model.machine();
  auto const requests = exchange_by_any_mover(machine);
  auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
  expect_complete(plan, requests, machine);
  auto const moved_by = [&](Op op) {
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](Step const& step) { return step.op == op; });
  };
  EXPECT_GT(moved_by(Op::Copy), 0);
  EXPECT_GT(moved_by(Op::Write), 0);
  for (auto const& decision : plan.decisions) {
    EXPECT_EQ(decision.candidates[decision.chosen].op, plan.steps[index(decision.step)].op);
    for (auto const& piece : decision.others)
      EXPECT_EQ(decision.candidates[piece.candidate].op, plan.steps[index(piece.step)].op);
  }

  auto const read_back = plan_from_json(nlohmann::ordered_json::parse(to_json(plan, machine).dump()), machine);
  EXPECT_EQ(read_back, plan);
  EXPECT_EQ(lower_bound(read_back, model)->makespan, lower_bound(plan, model)->makespan);

  auto const by_one_alone = [&](Op op) {
    auto alone = requests;
    for (auto& request : alone) {
      request.any_mover = false;
      request.op = op;
    }
    return estimate(model, SetPlanner(model).plan(alone, {Objective::Makespan}).steps).makespan;
  };
  auto const makespan = estimate(model, plan.steps).makespan;
  EXPECT_LT(1.04 * makespan, by_one_alone(Op::Copy));
  EXPECT_LT(1.01 * makespan, by_one_alone(Op::Write));
}

// A whole transfer by another candidate is moved by what moves that candidate.
TEST(SetPlanner, TriesAnotherMoverAsAWhole) {
  Model const model(bundled_machine("hgx-h100-4gpu"));
  auto const plan = SetPlanner(model).plan(exchange_by_any_mover(model.machine()), {Objective::Makespan});
  auto const& candidates = plan.decisions[0].candidates;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].legal()) continue;
    auto const other = with_way(plan, 0, i);
    EXPECT_EQ(other.steps[index(other.decisions[0].step)].op, candidates[i].op);
    EXPECT_EQ(other.steps[index(other.decisions[0].step)].bytes, 64_MiB);
  }
}

class RandomSets : public testing::TestWithParam<char const*> {};

TEST_P(RandomSets, AreCompleteAndNeverSlowerThanEachAlone) {
  Model const model(bundled_machine(GetParam()));
  SetPlanner const planner(model);
  auto const gpus = model.machine().all(PciKind::Gpu);
  std::mt19937 random(11);
  for (int round = 0; round < test::rounds(12, 200); ++round) {
    std::vector<Request> requests;
    auto const count = 1 + random() % 14;
    for (std::size_t i = 0; i < count; ++i) {
      auto const from = gpus[random() % gpus.size()];
      auto const to = gpus[random() % gpus.size()];
      if (from == to) continue;
      requests.push_back({.id = "t" + std::to_string(requests.size()),
                          .from = from,
                          .to = to,
                          .bytes = Bytes(std::int64_t{4097} << (random() % 16))});
      if (requests.size() > 1 && random() % 5 == 0) requests.back().after = {random() % (requests.size() - 1)};
    }
    auto const each = planner.plan(requests, {Objective::Each});
    auto const together = planner.plan(requests, {Objective::Makespan});
    expect_complete(together, requests, model.machine());
    EXPECT_LE(estimate(model, together.steps).makespan, estimate(model, each.steps).makespan);
    auto const quick = planner.plan(requests, {Objective::Makespan, Effort::Quick});
    expect_complete(quick, requests, model.machine());
    EXPECT_LE(estimate(model, quick.steps).makespan, estimate(model, each.steps).makespan);
    auto const fair = planner.plan(requests, {Objective::Slowdown});
    expect_complete(fair, requests, model.machine());
    bool const free = std::all_of(requests.begin(), requests.end(), [](auto const& r) { return r.after.empty(); });
    if (!free) continue;
    EXPECT_LE(worst_slowdown(model, fair), worst_slowdown(model, each) * (1 + 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Bundled, RandomSets,
                         testing::Values("dgx-1-v100", "dgx-1-p100", "hgx-h200", "a100x8-pcie-4sw", "rtx6000pro-x8-bcm",
                                         "rtx3090-x8", "ac922", "gh200x4", "dgx-2", "hgx-h100-4gpu"));

// Every pair of eight GPUs on a mesh of NVLink. Only the costly drafts come near the lower bound.
TEST(QuickPlans, GainMoreThanHalfOfWhatFullOnesDo) {
  Model const model(bundled_machine("dgx-1-p100"));
  SetPlanner const planner(model);
  std::vector<Request> requests;
  for (auto const from : model.machine().all(PciKind::Gpu))
    for (auto const to : model.machine().all(PciKind::Gpu))
      if (from != to)
        requests.push_back({.id = "t" + std::to_string(requests.size()), .from = from, .to = to, .bytes = 64_MiB});
  auto const time = [&](Aim aim) { return estimate(model, planner.plan(requests, aim).steps).makespan; };
  auto const each = time({Objective::Each});
  auto const quick = time({Objective::Makespan, Effort::Quick});
  auto const full = time({Objective::Makespan});
  EXPECT_LE(full, quick);
  EXPECT_GT((each - quick) / (each - full), 0.5);
}

TEST(Effort, IsOneOfTwoWords) {
  EXPECT_EQ(parse_effort("quick").value, Effort::Quick);
  EXPECT_EQ(to_string(Effort::Full), "full");
  EXPECT_THAT(parse_effort("quik").problem, testing::HasSubstr("did you mean 'quick'"));
}

TEST(Objective, IsOneOfThreeWords) {
  EXPECT_EQ(parse_objective("slowdown").value, Objective::Slowdown);
  EXPECT_THAT(parse_objective("makespam").problem, testing::HasSubstr("did you mean 'makespan'"));
}

}  // namespace
}  // namespace lanewise
