// Lower bounds that can be computed by hand, and what they say binds.
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "core/planner/bounds/best_division.hpp"
#include "core/planner/bounds/collective_bound.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/solver/linear_program.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;
using ::testing::HasSubstr;

Request request(Machine const& machine, std::string const& id, std::string const& from, std::string const& to,
                Bytes bytes, std::optional<Mechanism> only, std::vector<std::size_t> after = {}) {
  return {.id = id,
          .from = machine.place(from),
          .to = machine.place(to),
          .bytes = bytes,
          .only = only,
          .after = std::move(after)};
}

Model const& linked_server() {
  static Model const model(
      test::machine_of({.more_gpu = "copy_engines: 2", .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 4}"}));
  return model;
}

LowerBound bound_of(std::vector<Request> const& requests) {
  return lower_bound(Planner(linked_server()).plan(requests), linked_server()).value();
}

TEST(LowerBound, OfOneTransferOnOneWayIsItsTimeAlone) {
  auto const one = request(linked_server().machine(), "one", "gpu0", "gpu2", 256_MiB, Mechanism::PcieP2p);
  auto const plan = Planner(linked_server()).plan({one});
  auto const bound = lower_bound(plan, linked_server()).value();
  EXPECT_NEAR(bound.makespan.value(), plan.decisions[0].candidates[plan.decisions[0].chosen].time->value(), 1e-9);
  ASSERT_FALSE(bound.binding.empty());
  EXPECT_THAT(bound.binding.front().name, HasSubstr("pcie"));
}

// Two writes out of one GPU over its link of r bytes per second: 2 b / r after the shorter latency.
TEST(LowerBound, OfTwoThroughOneLinkIsTheirSumOverItsCapacity) {
  auto const& machine = linked_server().machine();
  auto const bound = bound_of({request(machine, "a", "gpu0", "gpu2", 256_MiB, Mechanism::PcieP2p),
                               request(machine, "b", "gpu0", "gpu3", 256_MiB, Mechanism::PcieP2p)});
  auto const up = linked_server().resources().link_above(*machine.find_function("gpu0")).direction.up;
  auto const flowing = 512_MiB / *linked_server().capacity(up);
  EXPECT_GE(bound.makespan, flowing);
  EXPECT_LT(bound.makespan, flowing + 10.0_us);
}

// NVLink at 4 x 25 x 0.9 = 90 GB/s and PCIe beside it: the rates add up, since a transfer may use both.
TEST(LowerBound, SplitsWhereSeveralWaysExist) {
  auto const& machine = linked_server().machine();
  auto const both = bound_of({request(machine, "one", "gpu0", "gpu1", 256_MiB, std::nullopt)});
  auto const single = bound_of({request(machine, "one", "gpu0", "gpu1", 256_MiB, Mechanism::Nvlink)});
  if (!linear_solver()) GTEST_SKIP() << "no solver in this build";
  EXPECT_LT(both.makespan.value(), single.makespan.value() * 0.85);
  EXPECT_GT(both.makespan, 256_MiB / 150.0_GBps);
}

TEST(LowerBound, AddsStagesThatWaitForOneAnother) {
  auto const& machine = linked_server().machine();
  auto const one = bound_of({request(machine, "a", "gpu0", "gpu2", 64_MiB, Mechanism::PcieP2p)});
  auto const two = bound_of({request(machine, "a", "gpu0", "gpu2", 64_MiB, Mechanism::PcieP2p),
                             request(machine, "b", "gpu2", "gpu0", 64_MiB, Mechanism::PcieP2p, {0})});
  EXPECT_NEAR(two.makespan.value(), 2 * one.makespan.value(), 1e-8);
}

TEST(LowerBound, CountsEnginesThatAreHeld) {
  auto const& machine = linked_server().machine();
  std::vector<Request> many;
  for (int i = 0; i < 40; ++i)
    many.push_back(request(machine, "s" + std::to_string(i), "gpu0", "gpu2", 4_KiB, Mechanism::PcieP2p));
  auto const plan = Planner(linked_server()).plan(many);
  auto const bound = lower_bound(plan, linked_server()).value();
  if (!linear_solver()) GTEST_SKIP() << "no solver in this build";
  // The engine of gpu0 for peers pushes in p, or that of gpu2 pulls in q: both are busy for n1 p = n2 q.
  auto const p = plan.decisions[0].candidates.at(0).time->value();
  auto const q = plan.decisions[0].candidates.at(1).time->value();
  EXPECT_NEAR(bound.makespan.value(), 40 * p * q / (p + q), 1e-9);
  EXPECT_THAT(bound.binding.front().name, HasSubstr("copy_engines"));
}

// Eight GPUs with one engine each send across the sockets. Peer writes hold one engine and move 39 GB/s alone, 64 GB/s
// together; copies through host memory hold two engines. Two writes share 64 GB/s and leave engines for three copies.
// If engines were divisible, writes would hold 64 / 39 of them and leave more. Only GPUs that are not NVIDIA's do both
// with the same engines.
TEST(LowerBound, CountsEnginesHeldByFlowsThatShare) {
  if (!linear_solver()) GTEST_SKIP() << "no solver in this build";
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  auto machine = catalogue.machine("rtx6000pro-x8-genoa");
  auto const gpus = machine.all(PciKind::Gpu);
  auto& gpu = machine.parts[index(*machine.at(gpus[0]).part)].gpu;
  gpu.vendor = "amd";
  gpu.copy_engines = 1;
  auto& cpu = machine.parts[index(*machine.sockets[0].part)].cpu;
  cpu.socket_peer_port_bandwidth = cpu.socket_peer_port_bandwidth_both = std::nullopt;
  cpu.socket_peer_bandwidth = 39.0_GBps;
  cpu.socket_peer_bandwidth_both = 64.0_GBps;
  Model const model(std::move(machine));
  std::vector<Request> across;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    across.push_back({.id = "t" + std::to_string(i), .from = gpus[i], .to = gpus[(i + 4) % 8], .bytes = 1_GiB});
  auto const bound = lower_bound(Planner(model).plan(across), model).value();
  Way const way{.mechanism = Mechanism::HostStaged, .staging = NumaId(0)};
  auto const demand = model.lower(gpus[0], gpus[4], 1_GiB, Op::Copy, way);
  auto const staged = model.cost(demand, 1_GiB)->rate;
  auto const divisible = 64.0_GBps + BytesPerSecond((8 - 64.0 / 39) / 2 * staged.value());
  auto const whole = 64.0_GBps + BytesPerSecond(3 * staged.value());
  EXPECT_GT(bound.makespan.value(), 1.02 * (8_GiB / divisible).value());
  EXPECT_LT(bound.makespan.value(), (8_GiB / whole).value());
  EXPECT_TRUE(std::any_of(bound.binding.begin(), bound.binding.end(), [](LowerBound::Part const& part) {
    return part.name == "cpu0-cpu1.peer.both and engines held meanwhile";
  }));
}

// Four pairs of MI60 across two sockets, with two engines each. Copies between the GPUs of a pair through host memory
// hold all engines of both and fill neither's link; peer copies share one link between the sockets. The best plan
// alternates.
TEST(LowerBound, CountsTurnsAtEngines) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  Model const model(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("epyc-mi60-x8"));
  std::vector<Request> requests;
  for (int from = 0; from < 8; ++from)
    requests.push_back(request(model.machine(), std::to_string(from), "gpu" + std::to_string(from),
                               "gpu" + std::to_string((from + 4) % 8), 64_MiB, std::nullopt));
  auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
  auto const bound = lower_bound(plan, model).value();
  auto const turns = std::find_if(bound.binding.begin(), bound.binding.end(),
                                  [](LowerBound::Part const& part) { return part.name == kTurnsAtEngines; });
  ASSERT_NE(turns, bound.binding.end());
  EXPECT_GT(turns->share, 0.05);
  auto const shares = std::accumulate(bound.binding.begin(), bound.binding.end(), 0.0,
                                      [](double sum, LowerBound::Part const& part) { return sum + part.share; });
  EXPECT_NEAR(shares, 1, 0.01);
  EXPECT_LE(bound.makespan, estimate(model, plan.steps).makespan);
  EXPECT_LT(bound.gap(estimate(model, plan.steps).makespan), 0.2);
}

// Every GPU of a mesh sends to the next. Relays of the best plan cannot spread the time in which their pipelines fill
// over more bytes than they move in that plan's time.
TEST(LowerBound, IsHigherWhereAPlanIsKnown) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  Model const model(test::bundled().machine("gaudi-3-x8"));
  std::vector<Request> requests;
  for (int i = 0; i < 8; ++i)
    requests.push_back(request(model.machine(), fmt::format("t{}", i), fmt::format("gpu{}", i),
                               fmt::format("gpu{}", (i + 1) % 8), 64_MiB, std::nullopt));
  auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
  auto const transfers = open_transfers(plan, model);
  auto const time = estimate(model, plan.steps).makespan;
  auto const without = lower_bound(transfers, model).value();
  auto const with = lower_bound(transfers, model, time).value();
  EXPECT_GT(with.makespan, without.makespan * 1.05);
  EXPECT_LT(with.gap(time), 0.11);
  // A worse plan says less, and nothing false about this one; one faster than anything can be is returned as it is.
  auto const at_once = estimate(model, SetPlanner(model).plan(requests, {Objective::Each}).steps).makespan;
  EXPECT_GT(at_once, time * 2.0);
  EXPECT_LE(lower_bound(transfers, model, at_once)->makespan, with.makespan);
  EXPECT_LE(lower_bound(transfers, model, time * 2.0)->makespan, with.makespan);
  EXPECT_GE(lower_bound(transfers, model, time * 2.0)->makespan, without.makespan);
  EXPECT_EQ(lower_bound(transfers, model, without.makespan * 0.5)->makespan, without.makespan * 0.5);
}

// Small copies over NVLink end before ways through host memory begin. That these are slow to start says nothing of
// plans that do not use them, also in stages and where a much longer plan is known.
TEST(LowerBound, IsNotHeldByWaysThatAreSlowToStart) {
  Model const model(test::bundled().machine("hgx-h200"));
  for (auto const bytes : {0_B, 1_B, 4_KiB, 256_KiB}) {
    std::vector<Request> at_once;
    std::vector<Request> chain;
    for (std::size_t i = 0; i < 4; ++i) {
      auto one = request(model.machine(), fmt::format("t{}", i), fmt::format("gpu{}", i), fmt::format("gpu{}", i + 1),
                         bytes, std::nullopt);
      at_once.push_back(one);
      if (i > 0) one.after = {i - 1};
      chain.push_back(one);
    }
    for (auto const& requests : {at_once, chain}) {
      auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
      auto const time = estimate(model, plan.steps).makespan;
      EXPECT_GE(lower_bound(plan, model)->gap(time), 0) << bytes.value();
      for (double const longer : {1.5, 10.0, 1000.0})
        EXPECT_GE(lower_bound(plan, model, time * longer)->gap(time), 0) << bytes.value() << ' ' << longer;
    }
  }
}

TEST(LowerBound, OfNothingIsNone) { EXPECT_FALSE(lower_bound(std::vector<OpenTransfer>{}, linked_server())); }

TEST(LinearProgram, FindsAnOptimumAndItsDuals) {
  if (!linear_solver()) GTEST_SKIP() << "no solver in this build";
  LinearProgram program;  // minimise 3 x + 2 y with x + y >= 4, x <= 1
  program.add_row({.lower = 4});
  program.add_row({.upper = 1});
  program.entries = {{0, 1}, {1, 1}};
  program.end_column(3);
  program.entries.push_back({0, 1});
  program.end_column(2);
  auto const solution = solve(program);
  ASSERT_TRUE(solution);
  EXPECT_NEAR(solution->x[1], 4, 1e-9);
  EXPECT_NEAR(solution->duals[0], 2, 1e-9);
}

TEST(LinearProgram, KeepsColumnsBelowTheirMost) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  LinearProgram program;
  auto const row = program.add_row({.upper = 10});
  program.entries.push_back({row, 1});
  program.end_column(-1);
  program.entries.push_back({row, 1});
  program.end_column(-2, 3);
  auto const answer = solve(program);
  ASSERT_TRUE(answer);
  EXPECT_NEAR(answer->x[0], 7, 1e-9);
  EXPECT_NEAR(answer->x[1], 3, 1e-9);
}

// Both divisions carry every byte; the less congested one takes hardly longer and fills fewer resources.
TEST(BestDivision, LessCongestedOneFillsFewerResources) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  Model const model(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("dgx-1-v100"));
  std::vector<Request> requests;
  for (auto const from : model.machine().all(PciKind::Gpu))
    for (auto const to : model.machine().all(PciKind::Gpu))
      if (from != to) requests.push_back({.id = "t", .from = from, .to = to, .bytes = 64_MiB});
  auto const transfers = open_transfers(Planner(model).plan(requests), model);
  auto const division = best_division(transfers, model);
  ASSERT_TRUE(division);
  ASSERT_EQ(division->least_congested.size(), transfers.size());
  // How long each resource is busy, as a fraction of the least makespan.
  auto const busy = [&](std::vector<std::vector<double>> const& bytes) {
    std::map<ResourceId, double> shares;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      EXPECT_NEAR(std::accumulate(bytes[i].begin(), bytes[i].end(), 0.0), 64 << 20, 64);
      for (std::size_t o = 0; o < bytes[i].size(); ++o)
        for (auto const& use : transfers[i].options[o].demand.uses)
          shares[use.resource] +=
              bytes[i][o] * use.weight.ratio() / model.capacity(use.resource)->value() / division->makespan.value();
    }
    return shares;
  };
  auto const full = [](std::map<ResourceId, double> const& shares) {
    return std::count_if(shares.begin(), shares.end(), [](auto const& entry) { return entry.second > 0.9; });
  };
  auto const earliest = busy(division->bytes);
  auto const least_congested = busy(division->least_congested);
  for (auto const& [resource, share] : least_congested) EXPECT_LT(share, 1.06) << model.resources().at(resource).name;
  EXPECT_LT(full(least_congested), full(earliest));
}

// Stores that get more out of a link than copies do: 0.6 of its rate beside 0.5.
TEST(LowerBound, OfACollectiveCountsWhatKernelsGetOutOfALink) {
  auto catalogue = test::bundled();
  Model const model(
      catalogue.machine_from(SourceText::from_memory("pair.yaml",
                                                     "lanewise: machine/1\nmachine: pair\nparts:\n"
                                                     "  link: {kind: link, family: nvlink, generation: 3, rate: 10 "
                                                     "GB/s, copy_efficiency: 0.5, load_store_efficiency: 0.6}\n"
                                                     "sockets:\n  - socket: cpu0\n    part: epyc-7742\n    pcie:\n"
                                                     "      - {root_port: rp0, gpu: gpu0, part: a100-sxm4-80g}\n"
                                                     "      - {root_port: rp1, gpu: gpu1, part: a100-sxm4-80g}\n"
                                                     "nvlinks: [{between: [gpu0, gpu1], part: link, count: 3}]\n")));
  for (auto const op : {CollectiveOp::AllGather, CollectiveOp::AllReduce, CollectiveOp::Broadcast}) {
    Collective collective;
    collective.op = op;
    collective.among = {model.machine().place("gpu0"), model.machine().place("gpu1")};
    collective.bytes = 101_MiB;
    auto const plan = plan_collective(model, collective);
    EXPECT_LE(collective_bound(collective, model)->makespan, estimate(model, plan.steps).makespan) << to_string(op);
  }
}

}  // namespace
}  // namespace lanewise
