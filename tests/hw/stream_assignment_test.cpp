// Which stream carries which step: values in, values out, no GPU.
#include "hw/program/stream_assignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lanewise/machine/catalogue.hpp"

namespace lanewise::hw {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<StepId> ids(std::size_t count) {
  std::vector<StepId> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(StepId(i));
  return all;
}

StreamAssignment assigned(std::vector<StreamStep> const& steps, std::size_t max_streams = kMaxStreamsPerDevice) {
  return assign_streams(steps, ids(steps.size()), max_streams);
}

std::vector<std::size_t> streams(StreamAssignment const& assignment) {
  std::vector<std::size_t> all;
  for (auto const& step : assignment.steps) all.push_back(step.stream);
  return all;
}

TEST(StreamAssignment, IndependentStepsHaveStreamsOfTheirOwn) {
  auto const found = assigned({{0, {}, {}}, {0, {}, {}}, {1, {}, {}}});
  EXPECT_THAT(streams(found), ElementsAre(0, 1, 2));
  EXPECT_THAT(found.device_of_stream, ElementsAre(0, 0, 1));
  EXPECT_FALSE(found.has_consecutive_steps);
  for (auto const& step : found.steps) {
    EXPECT_TRUE(step.ends_stream);
    EXPECT_FALSE(step.is_awaited);
    EXPECT_FALSE(step.continues);
    EXPECT_THAT(step.awaited_events, IsEmpty());
  }
}

TEST(StreamAssignment, AChainStaysInOneStreamWithoutEvents) {
  auto const found = assigned({{0, {}, {}}, {0, {StepId(0)}, {}}, {0, {StepId(1)}, {}}});
  EXPECT_THAT(streams(found), ElementsAre(0, 0, 0));
  EXPECT_TRUE(found.has_consecutive_steps);
  EXPECT_EQ(found.steps[1].continues, StepId(0));
  EXPECT_EQ(found.steps[2].continues, StepId(1));
  EXPECT_THAT(found.steps[2].awaited_events, IsEmpty());
  EXPECT_FALSE(found.steps[0].ends_stream);
  EXPECT_FALSE(found.steps[1].ends_stream);
  EXPECT_TRUE(found.steps[2].ends_stream);
}

TEST(StreamAssignment, OfTwoSuccessorsTheFirstContinuesAndTheOtherWaitsForAnEvent) {
  auto const found = assigned({{0, {}, {}}, {0, {StepId(0)}, {}}, {0, {StepId(0)}, {}}});
  EXPECT_THAT(streams(found), ElementsAre(0, 0, 1));
  EXPECT_THAT(found.steps[1].awaited_events, IsEmpty());
  EXPECT_THAT(found.steps[2].awaited_events, ElementsAre(StepId(0)));
  EXPECT_FALSE(found.steps[2].continues);
  EXPECT_TRUE(found.steps[0].is_awaited);
}

TEST(StreamAssignment, AJoinContinuesOneStreamAndWaitsForTheOthers) {
  auto const found = assigned({{0, {}, {}}, {0, {}, {}}, {0, {StepId(0), StepId(1)}, {}}});
  EXPECT_THAT(streams(found), ElementsAre(0, 1, 0));
  EXPECT_THAT(found.steps[2].awaited_events, ElementsAre(StepId(1)));
  EXPECT_FALSE(found.steps[2].continues);  // its start is not the end of step 0 alone
  EXPECT_FALSE(found.steps[0].is_awaited);
  EXPECT_TRUE(found.steps[1].is_awaited);
}

TEST(StreamAssignment, AnotherDeviceWaitsForAnEvent) {
  auto const found = assigned({{0, {}, {}}, {1, {StepId(0)}, {}}, {0, {StepId(0)}, {}}});
  EXPECT_THAT(streams(found), ElementsAre(0, 1, 0));
  EXPECT_THAT(found.device_of_stream, ElementsAre(0, 1));
  EXPECT_THAT(found.steps[1].awaited_events, ElementsAre(StepId(0)));
  EXPECT_EQ(found.steps[2].continues, StepId(0));
}

TEST(StreamAssignment, FirstCopiesOfOneSerialPeerEngineShareAStreamInOrder) {
  auto const found = assigned({{0, {}, EngineId(5)}, {0, {}, EngineId(5)}, {0, {}, EngineId(6)}, {0, {}, EngineId(5)}});
  EXPECT_THAT(streams(found), ElementsAre(0, 0, 1, 0));
  EXPECT_EQ(found.steps[1].continues, StepId(0));
  EXPECT_EQ(found.steps[3].continues, StepId(1));
}

TEST(StreamAssignment, AStepThatWaitsDoesNotQueueForTheEngine) {
  auto const found = assigned({{0, {}, EngineId(5)}, {1, {}, {}}, {0, {StepId(1)}, EngineId(5)}});
  EXPECT_THAT(streams(found), ElementsAre(0, 1, 2));
}

TEST(StreamAssignment, TheEnginesLastStepIsTakenForContinued) {
  // Step 1 follows step 0 in the engine's stream, so step 2, which waits for step 0, needs a stream and an event.
  auto const found = assigned({{0, {}, EngineId(5)}, {0, {}, EngineId(5)}, {0, {StepId(0)}, {}}});
  EXPECT_THAT(streams(found), ElementsAre(0, 0, 1));
  EXPECT_THAT(found.steps[2].awaited_events, ElementsAre(StepId(0)));
}

TEST(StreamAssignment, StreamsBeyondTheMostOfADeviceAreSharedInTurn) {
  auto const found = assigned(std::vector<StreamStep>(6), 2);
  EXPECT_THAT(streams(found), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_TRUE(found.has_consecutive_steps);
  EXPECT_TRUE(found.steps[5].ends_stream);
  EXPECT_FALSE(found.steps[3].ends_stream);
  EXPECT_FALSE(found.steps[2].continues);  // it only shares the stream: its start is an event of its own
}

// Whatever the plan: a step begins after all that it waits for, by its stream's order or by an event.
TEST(StreamAssignment, EveryDependencyIsKept) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<StreamStep> steps(1 + random() % 40);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].device = static_cast<int>(random() % 3);
      for (std::size_t k = 0; i > 0 && k < random() % 4; ++k) steps[i].waits_for.push_back(StepId(random() % i));
      if (steps[i].waits_for.empty() && random() % 2 == 0) steps[i].serial_peer_engine = EngineId(steps[i].device);
    }
    auto const found = assigned(steps, 3);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto const& step = found.steps[i];
      EXPECT_EQ(found.device_of_stream[step.stream], steps[i].device);
      for (auto const before : steps[i].waits_for) {
        auto const& events = step.awaited_events;
        bool const by_event = std::find(events.begin(), events.end(), before) != events.end();
        bool const by_stream = found.steps[index(before)].stream == step.stream;
        EXPECT_NE(by_event, by_stream);
        EXPECT_TRUE(by_stream || found.steps[index(before)].is_awaited);
      }
      EXPECT_TRUE(!step.continues || found.steps[index(*step.continues)].stream == step.stream);
    }
    for (std::size_t device = 0; device < 3; ++device)
      EXPECT_LE(std::count(found.device_of_stream.begin(), found.device_of_stream.end(), static_cast<int>(device)), 3);
  }
}

Step nvlink_copy(Machine const& machine, Op op) {
  auto const gpus = machine.all(PciKind::Gpu);
  Step step;
  step.transfer = "t";
  step.from = Place(gpus[0]);
  step.to = Place(gpus[1]);
  step.bytes = 64_MiB;
  step.op = op;
  step.way.mechanism = Mechanism::Nvlink;
  return step;
}

// An H200 has one engine for copies over NVLink; loads and stores of kernels do not need it.
TEST(StreamSteps, SayWhichFirstStepsNeedASerialPeerEngine) {
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  auto const machine = catalogue.machine("hgx-h200");
  Model const model(machine);
  auto const copy = nvlink_copy(machine, Op::Copy);
  auto after = copy;
  after.order_only = {StepId(0)};
  auto const found = stream_steps({copy, after, nvlink_copy(machine, Op::LoadStore)}, model, {4, 4, 5});
  EXPECT_TRUE(found[0].serial_peer_engine);
  EXPECT_EQ(found[0].device, 4);
  EXPECT_THAT(found[0].waits_for, IsEmpty());
  EXPECT_FALSE(found[1].serial_peer_engine);
  EXPECT_THAT(found[1].waits_for, ElementsAre(StepId(0)));
  EXPECT_FALSE(found[2].serial_peer_engine);
  EXPECT_EQ(found[2].device, 5);
}

}  // namespace
}  // namespace lanewise::hw
