#include "core/estimate/engine_queue.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Takes the engine of each GPU of h200x2-vm that copies to peers: it has one slot.
class EngineQueueTest : public testing::Test {
 protected:
  EngineQueueTest() : machine_(test::bundled().machine("h200x2-vm")), model_(machine_) {
    for (auto const gpu : machine_.all(PciKind::Gpu)) engines_.push_back(model_.resources().peer_copy_engines(gpu));
  }
  // Steps that hold the engines of these GPUs.
  void demand(std::vector<std::vector<std::size_t>> const& gpus) {
    for (auto const& of_step : gpus) {
      auto& demand = demands_.emplace_back();
      for (auto const gpu : of_step) demand.engines.push_back(engines_[gpu]);
    }
    queue_.emplace(model_.resources(), demands_);
  }
  std::vector<std::size_t> started_by_ready(std::size_t step) {
    std::vector<std::size_t> started;
    queue_->ready(step, [&](std::size_t other) { started.push_back(other); });
    return started;
  }
  std::vector<std::size_t> started_by_end_of(std::size_t step) {
    std::vector<std::size_t> started;
    queue_->finished(step, [&](std::size_t other) { started.push_back(other); });
    return started;
  }

  Machine machine_;
  Model model_;
  std::vector<EngineId> engines_;
  std::vector<Demand> demands_;
  std::optional<EngineQueue> queue_;
};

TEST_F(EngineQueueTest, StartsStepsInTheOrderTheyCame) {
  demand({{0}, {0}, {0}});
  EXPECT_THAT(started_by_ready(0), ElementsAre(0));
  EXPECT_THAT(started_by_ready(2), IsEmpty());
  EXPECT_THAT(started_by_ready(1), IsEmpty());
  EXPECT_THAT(started_by_end_of(0), ElementsAre(2));
  EXPECT_THAT(started_by_end_of(2), ElementsAre(1));
}

TEST_F(EngineQueueTest, TakesAllEnginesOrNone) {
  demand({{0}, {0, 1}, {1}});
  EXPECT_THAT(started_by_ready(0), ElementsAre(0));
  EXPECT_THAT(started_by_ready(1), IsEmpty());
  EXPECT_THAT(started_by_ready(2), ElementsAre(2));  // the waiting step holds neither engine
  EXPECT_THAT(started_by_end_of(0), IsEmpty());
  EXPECT_THAT(started_by_end_of(2), ElementsAre(1));
}

TEST_F(EngineQueueTest, StepsWithoutEnginesNeverWait) {
  demand({{0}, {}});
  EXPECT_THAT(started_by_ready(0), ElementsAre(0));
  EXPECT_THAT(started_by_ready(1), ElementsAre(1));
  EXPECT_THAT(started_by_end_of(1), IsEmpty());
}

}  // namespace
}  // namespace lanewise
