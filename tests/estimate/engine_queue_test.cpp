#include "core/estimate/engine_queue.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

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
    queue_.emplace(model_, demands_);
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
  std::vector<StepDemand> demands_;
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

// Asks every waiting step after each end.
class ScannedQueue {
 public:
  ScannedQueue(Model const& model, std::span<StepDemand const> demands) : engines_(model, demands) {}

  std::vector<std::size_t> ready(std::size_t step) {
    if (engines_.take(step)) return {step};
    waiting_.push_back(step);
    return {};
  }
  std::vector<std::size_t> finished(std::size_t step) {
    engines_.release(step);
    std::vector<std::size_t> started;
    std::erase_if(waiting_, [&](std::size_t waiting) {
      if (!engines_.take(waiting)) return false;
      started.push_back(waiting);
      return true;
    });
    return started;
  }

 private:
  EngineQueue engines_;
  std::vector<std::size_t> waiting_;
};

TEST(EngineQueue, StartsTheSameStepsAsAskingAllThatWait) {
  Model const model(test::bundled().machine("hgx-h200"));
  std::vector<EngineId> engines;
  for (auto const gpu : model.machine().all(PciKind::Gpu)) engines.push_back(model.resources().peer_copy_engines(gpu));
  std::mt19937 random(2);
  std::vector<StepDemand> demands(400);
  for (auto& demand : demands)
    for (std::size_t k = 0; k < random() % 4; ++k) {
      auto const engine = engines[random() % engines.size()];
      if (std::find(demand.engines.begin(), demand.engines.end(), engine) == demand.engines.end())
        demand.engines.push_back(engine);
    }
  EngineQueue queue(model, demands);
  ScannedQueue scanned(model, demands);
  std::vector<std::size_t> running;
  std::size_t next = 0;
  while (next < demands.size() || !running.empty()) {
    std::vector<std::size_t> started;
    auto const start = [&](std::size_t step) { started.push_back(step); };
    if (next < demands.size() && (running.empty() || random() % 5 < 3)) {
      queue.ready(next, start);
      ASSERT_EQ(started, scanned.ready(next));
      ++next;
    } else {
      auto const at = running.begin() + static_cast<std::ptrdiff_t>(random() % running.size());
      auto const ended = *at;
      running.erase(at);
      queue.finished(ended, start);
      ASSERT_EQ(started, scanned.finished(ended));
    }
    running.insert(running.end(), started.begin(), started.end());
  }
}

}  // namespace
}  // namespace lanewise
