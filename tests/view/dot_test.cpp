#include "core/view/machine/dot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/golden.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Dot, OneMachine) { test::expect_golden("view/golden/two_switch.dot", dot_text(test::two_switch())); }
TEST(Dot, TwoNodesAreDrawnInFull) {
  test::expect_golden("view/golden/small_cluster.dot", dot_text(test::small_cluster()));
}
TEST(Dot, OfManyNodesTheFirstIsDrawnInFull) {
  test::expect_golden("view/golden/big_cluster.dot", dot_text(test::big_cluster()));
}

TEST(Dot, OfManySwitchesOneOfEachTierIsDrawn) {
  auto const text = dot_text(test::huge_cluster());
  EXPECT_THAT(text, HasSubstr("leaf0.rail0\\n95 like it"));
  EXPECT_THAT(text, HasSubstr("\"tier 0\" -- \"tier 1\""));
  EXPECT_THAT(text, HasSubstr("95 nodes, each"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
}

TEST(Dot, LabelsAreEscaped) {
  auto machine = test::two_switch();
  machine.title = "a \"quoted\" back\\slash\ttab";
  EXPECT_THAT(dot_text(machine), HasSubstr(R"(a \"quoted\" back\\slash tab)"));
}

TEST(Dot, AGpuWithSeveralPeersNamesThem) {
  auto machine = test::two_switch();
  machine.nvlinks.push_back(
      {*machine.find_function("gpu0"), *machine.find_function("gpu3"), machine.nvlinks.front().part, 1});
  EXPECT_THAT(dot_text(machine), HasSubstr("NVLink 2 x1: gpu3"));
  EXPECT_THAT(dot_text(test::two_switch()), Not(HasSubstr("NVLink 2 x1: gpu3")));
}

TEST(Dot, AChipUnderTwoSocketsIsDrawnBetweenThem) {
  auto machine = test::two_switch();
  machine.host_bridges[index(machine.functions[index(*machine.find_function("sw1"))].host_bridge)].socket = SocketId{1};
  auto const text = dot_text(machine);
  auto const chip = text.find("\"cluster chip chip0\"");
  ASSERT_NE(chip, std::string::npos);
  EXPECT_GT(chip, text.find("\"cluster socket cpu0\""));
  EXPECT_GT(chip, text.find("\"cluster socket cpu1\""));
  EXPECT_EQ(text.find("\"cluster chip chip0\"", chip + 1), std::string::npos);
}

}  // namespace
}  // namespace lanewise
