// Copy engines of a GPU that run at the same time: an engine that waits for another GPU's copy starts later meanwhile.
#include "core/estimate/engine_concurrency.hpp"

#include <gtest/gtest.h>

#include "core/estimate/demands.hpp"
#include "core/model/resources/figures.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/search/set_planner.hpp"
#include "tests/estimate/two_gpus.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::two_gpus;

Place place_at(std::string const& name) { return two_gpus().machine().place(name); }

Step step(std::string const& from, std::string const& to, Bytes bytes, std::optional<Mechanism> only = {},
          std::vector<StepId> after = {}) {
  Request request{.id = from + to, .from = place_at(from), .to = place_at(to), .bytes = bytes};
  request.only = only;
  auto found = Planner(two_gpus()).plan({request}).steps.front();
  found.after = std::move(after);
  return found;
}
// The time that each chunk takes longer than alone.
template <class One, class Other>
Seconds added_per_chunk(One const& concurrent, Other const& alone) {
  return concurrent.chunk / concurrent.cap - alone.chunk / alone.cap;
}
// The start that a step has beyond its start alone.
Seconds added_start(std::vector<Step> const& steps, std::size_t i) {
  return demands_of(two_gpus(), steps)[i].start - demand_of(two_gpus(), steps[i]).start;
}

TEST(EngineConcurrency, LengthensTheGapsOfARing) {
  auto const ring = step("gpu0", "gpu1", 64_MiB, Mechanism::HostStaged);
  auto const alone = demands_of(two_gpus(), {ring})[0];
  auto const more = [&](Step const& other) {
    return added_per_chunk(demands_of(two_gpus(), {ring, other})[0], alone).value();
  };
  auto const gap = overheads::kConcurrentEngine.value();
  EXPECT_NEAR(more(step("gpu0", "gpu1", 1_GiB)), gap, 1e-12);
  EXPECT_NEAR(more(step("gpu1", "gpu0", 1_GiB)), gap, 1e-12);
  EXPECT_NEAR(more(step("numa0", "gpu0", 1_GiB)), gap, 1e-12);
  EXPECT_NEAR(more(step("gpu0", "gpu0", 1_GiB)), gap, 1e-12);
  EXPECT_EQ(more(step("gpu0", "numa0", 1_GiB)), 0) << "the same engine, chunk by chunk";
  auto kernel = step("gpu0", "gpu1", 1_GiB);
  kernel.op = Op::Write;
  EXPECT_EQ(more(kernel), 0);
  EXPECT_EQ(more(step("gpu0", "gpu1", 1_GiB, {}, {StepId(0)})), 0) << "behind it";
}

TEST(EngineConcurrency, ChangesNothingButRings) {
  auto const ring = step("gpu0", "gpu1", 64_MiB, Mechanism::HostStaged);
  EXPECT_NEAR(added_per_chunk(demand_with_busy_engines(two_gpus(), ring), demand_of(two_gpus(), ring)).value(),
              overheads::kConcurrentEngine.value(), 1e-12);
  auto const copy = step("gpu0", "gpu1", 64_MiB);
  EXPECT_EQ(demand_with_busy_engines(two_gpus(), copy).cap, demand_of(two_gpus(), copy).cap);
}

TEST(EngineConcurrency, KnowsTheOrderThroughOtherSteps) {
  auto const ring = step("gpu0", "gpu1", 64_MiB, Mechanism::HostStaged);
  auto const alone = demands_of(two_gpus(), {ring})[0];
  std::vector<Step> steps{ring, step("gpu1", "gpu1", 1_MiB, {}, {StepId(0)}),
                          step("gpu0", "gpu1", 1_GiB, {}, {StepId(1)})};
  EXPECT_EQ(added_per_chunk(demands_of(two_gpus(), steps)[0], alone), Seconds(0));
  steps[2].after.clear();
  EXPECT_GT(added_per_chunk(demands_of(two_gpus(), steps)[0], alone), Seconds(0));
}

// Where one engine with slots stands for all engines of a GPU, copies to peers have an engine of their own.
TEST(EngineConcurrency, TellsEnginesApartByTheirRole) {
  static auto const machine = test::bundled().machine("dgx-a100");
  Model const model(machine);
  auto const planned = [&](std::optional<Mechanism> only) {
    Request request{.id = "t", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 64_MiB};
    request.only = only;
    return Planner(model).plan({request}).steps.front();
  };
  auto const ring = planned(Mechanism::HostStaged);
  auto const alone = demands_of(model, {ring})[0];
  EXPECT_GT(added_per_chunk(demands_of(model, {ring, planned({})})[0], alone), Seconds(0));
  EXPECT_EQ(added_per_chunk(demands_of(model, {ring, ring})[0], alone), Seconds(0));
}

// The source's engine carries out a pulled copy over NVLink, too; behind another copy of that engine it needs no event.
TEST(EngineConcurrency, CountsTheEngineOfTheSource) {
  auto pulled = step("gpu0", "gpu1", 4_MiB, {}, {StepId(0)});
  pulled.way.drive = Drive::Pull;
  EXPECT_EQ(added_start({step("gpu0", "gpu1", 4_MiB), pulled}, 1), Seconds(0));
  EXPECT_NEAR(added_start({step("gpu1", "gpu0", 4_MiB), pulled}, 1).value(), overheads::kChunkGap.value(), 1e-12);
}

TEST(EngineConcurrency, DelaysStepsThatWaitForAnotherGpu) {
  std::vector<Step> steps{step("gpu0", "numa0", 4_MiB), step("numa0", "gpu1", 4_MiB, {}, {StepId(0)}),
                          step("gpu0", "numa0", 4_MiB, {}, {StepId(0)})};
  EXPECT_EQ(added_start(steps, 1), overheads::kChunkGap);
  EXPECT_EQ(added_start(steps, 2), Seconds(0)) << "behind another in its own engine";
  steps.push_back(step("gpu0", "gpu1", 1_GiB));
  EXPECT_EQ(added_start(steps, 1), overheads::kChunkGap) << "gpu1 has no other busy engine";
  EXPECT_EQ(added_start(steps, 2), overheads::kEngineChange);
  steps.push_back(step("gpu1", "gpu0", 1_GiB));
  EXPECT_EQ(added_start(steps, 1), overheads::kChunkGap + overheads::kConcurrentEngine);
}

// With one buffer as large as the transfer, one link rests while the other works; a ring needs both.
TEST(EngineConcurrency, ASharedBufferGainsNothingWithARing) {
  std::vector<Step> const steps{step("gpu0", "gpu1", 64_MiB, Mechanism::HostStaged),
                                step("gpu0", "gpu1", 64_MiB, Mechanism::SharedHost)};
  auto const link = two_gpus().capacity(demand_of(two_gpus(), steps[0]).uses[0].resource).value();
  EXPECT_GE(estimate(two_gpus(), steps).makespan, 3 * (64_MiB / link));
}

TEST(EngineConcurrency, SplitsTransfersOverNvlinkAndTheHostWhereTheGainIsSure) {
  auto const time = [](std::vector<Request> const& requests, Objective objective) {
    return estimate(two_gpus(), SetPlanner(two_gpus()).plan(requests, {objective}).steps).makespan;
  };
  std::vector<Request> requests{{.id = "there", .from = place_at("gpu0"), .to = place_at("gpu1"), .bytes = 1_GiB}};
  EXPECT_GT(time(requests, Objective::Each) / time(requests, Objective::Makespan), 1.06);
  requests.push_back({.id = "back", .from = place_at("gpu1"), .to = place_at("gpu0"), .bytes = 1_GiB});
  EXPECT_GT(time(requests, Objective::Each) / time(requests, Objective::Makespan), 1.06);
  for (auto& request : requests) request.bytes = 32_MiB;
  for (auto const& each : SetPlanner(two_gpus()).plan(requests, {Objective::Makespan}).steps)
    EXPECT_EQ(each.way.mechanism, Mechanism::Nvlink) << "the gain of some microseconds is within the uncertainty";
}

TEST(KernelsAtHostMemory, WaitForAnotherGpusKernelByAnEvent) {
  auto write = step("gpu0", "numa0", 1_MiB);
  auto read_there = step("numa0", "gpu1", 1_MiB, {}, {StepId(0)});
  auto read_back = step("numa0", "gpu0", 1_MiB, {}, {StepId(0)});
  write.op = Op::Write;
  read_there.op = read_back.op = Op::Read;
  std::vector<Step> const steps{write, read_there, read_back};
  auto const gpu = *gpu_at(two_gpus().machine(), place_at("gpu1"));
  EXPECT_EQ(added_start(steps, 1), figures::chunk_gap(two_gpus().machine().part_of(gpu)));
  EXPECT_EQ(added_start(steps, 2), Seconds(0));
}

}  // namespace
}  // namespace lanewise
