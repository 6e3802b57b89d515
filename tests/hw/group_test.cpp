// Which processes stand for which nodes, and how they communicate.
#include "hw/nodes/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "core/io/interrupt.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RanksOfNodes, AreByHost) {
  EXPECT_THAT(ranks_of_nodes({"a", "b"}, 2), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(ranks_of_nodes({"a", "b", "a", "b"}, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(ranks_of_nodes({"a", "a"}, 1), ElementsAre(ElementsAre(0, 1)));
}

TEST(RanksOfNodes, OneHostPlaysManyWithAProcessEach) {
  EXPECT_THAT(ranks_of_nodes({"a", "a", "a"}, 3), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(RanksOfNodes, TooFewAreRefusedWithTheWayToStartThem) {
  try {
    ranks_of_nodes({"a"}, 2);
    FAIL();
  } catch (MissingError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("the cluster has 2 nodes, and 1 process was started on 1 host: start one on"));
  }
}

TEST(Groups, AloneOneIsFirstAndHearsItself) {
  if (launched_with_others()) GTEST_SKIP() << "started by a launcher";
  auto const group = make_group();
  EXPECT_EQ(group->rank(), 0);
  EXPECT_EQ(group->size(), 1);
  EXPECT_EQ(group->broadcast("plan"), "plan");
  EXPECT_THAT(group->all_gather("here"), ElementsAre("here"));
}

// Started by mpirun (tests/CMakeLists.txt); alone it is skipped.
TEST(Groups, ProcessesHearOneAnother) {
  if (!launched_with_others()) GTEST_SKIP() << "for mpirun";
  auto const group = make_group();
  ASSERT_GT(group->size(), 1);
  std::string const large(3'000'000, 'x');
  EXPECT_EQ(group->broadcast(group->rank() == 0 ? large : "nothing"), large);
  auto const said = group->all_gather(std::string(static_cast<std::size_t>(group->rank()), 'r'));
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank].size(), rank);
  // One host has one clock, so the offset is the error of the measurement.
  EXPECT_LT(std::abs(group->clock_offset().value()), 0.1);
  EXPECT_FALSE(group->failed_elsewhere());
  group->all_gather("");
  if (group->rank() == 1) group->announce_failure();
  while (group->rank() != 1 && !group->failed_elsewhere()) {
  }
  group->all_gather("");
  EXPECT_FALSE(group->failed_elsewhere()) << "that run is over";
  // A process that is interrupted while it waits still gets the others' texts, and can tell all others.
  InterruptScope const interruptible;
  if (group->rank() == 1) std::raise(SIGINT);
  if (group->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  auto const after = group->all_gather(interrupted() ? "stopped" : "on");
  for (std::size_t rank = 0; rank < after.size(); ++rank) EXPECT_EQ(after[rank], rank == 1 ? "stopped" : "on");
}

}  // namespace
}  // namespace lanewise::hw
