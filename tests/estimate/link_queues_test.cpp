// What a small message waits for beside bulk: the buffers of links that the bulk saturates, as measured on two H100.
#include "core/estimate/link_queues.hpp"

#include <gtest/gtest.h>

#include "core/estimate/demands.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/estimate/two_gpus.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::two_gpus;

Step planned_step(std::string const& from, std::string const& to, Bytes bytes, Op op = Op::Copy,
                  std::vector<StepId> after = {}) {
  auto const& machine = two_gpus().machine();
  Request request{.id = from + to, .from = machine.place(from), .to = machine.place(to), .bytes = bytes, .op = op};
  auto found = Planner(two_gpus()).plan({request}).steps.front();
  found.after = std::move(after);
  return found;
}

// How much later the first step begins than alone.
Seconds wait_of_first(std::vector<Step> const& steps) {
  return demands_of(two_gpus(), steps)[0].path - demands_of(two_gpus(), {steps[0]})[0].path;
}

constexpr Bytes kBulk = 512_MiB;

TEST(LinkQueues, ReadOfAPeerWaitsForBothDirectionsOfNvlink) {
  auto const read = planned_step("gpu1", "gpu0", 16_B, Op::Read);
  // Measured: 0.857 us alone, 1.034, 1.428 and 1.725 us beside copies.
  auto const beside_its_data = wait_of_first({read, planned_step("gpu1", "gpu0", kBulk)});
  auto const beside_its_requests = wait_of_first({read, planned_step("gpu0", "gpu1", kBulk)});
  EXPECT_NEAR(beside_its_data.value(), 0.177e-6, 0.01e-6);
  EXPECT_NEAR(beside_its_requests.value(), 0.571e-6, 0.02e-6);
  auto const beside_both =
      wait_of_first({read, planned_step("gpu1", "gpu0", kBulk), planned_step("gpu0", "gpu1", kBulk)});
  EXPECT_NEAR((beside_both - beside_its_data - beside_its_requests).value(), 0, 1e-12);
}

TEST(LinkQueues, ReadOfHostMemoryWaitsBehindTheCopiesOfItsGpu) {
  auto const read = planned_step("numa0", "gpu0", 16_B, Op::Read);
  // Measured: 1.26 us alone, 3.43 beside a copy to the GPU, 3.49 beside one from it, 4.02 beside both.
  for (auto const& bulk :
       {std::vector{planned_step("numa0", "gpu0", kBulk)}, std::vector{planned_step("gpu0", "numa0", kBulk)},
        std::vector{planned_step("numa0", "gpu0", kBulk), planned_step("gpu0", "numa0", kBulk)}}) {
    auto steps = bulk;
    steps.insert(steps.begin(), read);
    EXPECT_NEAR(wait_of_first(steps).value(), 2.2e-6, 0.1e-6);
  }
  EXPECT_EQ(wait_of_first({read, planned_step("numa0", "gpu1", kBulk)}), Seconds(0)) << "the other GPU's link";
}

TEST(LinkQueues, SmallCopyWaitsForItsAnswer) {
  // Measured: a hundred copies of 4 KiB 2.42 us each alone, 2.61 beside bulk the other way.
  auto const wait = wait_of_first({planned_step("gpu0", "gpu1", 4_KiB), planned_step("gpu1", "gpu0", kBulk)});
  EXPECT_NEAR(wait.value(), 0.17e-6, 0.02e-6);
}

TEST(LinkQueues, OthersWaitForNothing) {
  auto const small = planned_step("gpu0", "gpu1", 4_KiB);
  auto const back = [](Bytes bytes) { return planned_step("gpu1", "gpu0", bytes); };
  EXPECT_EQ(wait_of_first({small, planned_step("gpu0", "gpu1", kBulk)}), Seconds(0))
      << "the same engine, one after the other";
  EXPECT_EQ(wait_of_first({small, back(64_KiB)}), Seconds(0)) << "two small ones";
  EXPECT_EQ(wait_of_first({planned_step("gpu0", "gpu1", 1_MiB), back(kBulk)}), Seconds(0)) << "no small one";
  EXPECT_EQ(wait_of_first({planned_step("gpu0", "gpu1", 16_B, Op::Write), back(kBulk)}), Seconds(0))
      << "a store is not answered";
}

TEST(LinkQueues, StepsThatAreOrderedDoNotMeet) {
  auto first = planned_step("gpu0", "gpu1", 4_KiB);
  EXPECT_EQ(wait_of_first({first, planned_step("gpu1", "gpu0", kBulk, Op::Copy, {StepId(0)})}), Seconds(0));
}

TEST(LinkQueues, TimeDoesNotFallWhenBytesGrow) {
  Seconds before{0};
  for (auto bytes = 4_KiB; bytes <= 1_MiB; bytes = bytes * 2) {
    auto const run = estimate(two_gpus(), {planned_step("gpu0", "gpu1", bytes), planned_step("gpu1", "gpu0", kBulk)});
    auto const takes = run.steps[0].end;
    EXPECT_GE(takes.value(), before.value() * (1 - 1e-9)) << bytes.value();
    before = takes;
  }
}

}  // namespace
}  // namespace lanewise
