#include "core/view/machine/dot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/golden.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

TEST(Dot, OneMachine) { test::expect_golden("view/golden/two_switch.dot", dot_text(test::two_switch())); }
TEST(Dot, OfTwoNodesAlikeOneIsDrawnInFull) {
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

// Beside a line a label would cross others.
TEST(Dot, LinesHaveNoLabels) {
  for (auto const& machine : {test::two_switch(), test::small_cluster(), test::big_cluster()}) {
    std::istringstream lines(dot_text(machine));
    for (std::string line; std::getline(lines, line);) {
      bool const is_line = line.find(" -- ") != std::string::npos;
      EXPECT_FALSE(is_line && line.find("label") != std::string::npos) << line;
    }
  }
}

// Its nodes and lines keep their colours; all others are faint.
TEST(Dot, ARouteStandsOut) {
  auto const text = dot_text(test::two_switch(), {"gpu0", "sw0", "rp0", "cpu0", "socket link", "numa1 memory"});
  std::vector<std::string> nodes, edges;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const is_edge = line.find(" -- ") != std::string::npos;
    if (line.find("]; ") != std::string::npos || line.find('"') == std::string::npos) continue;
    auto const name = line.substr(0, line.find(" ["));
    if (is_edge && line.find("38\"") == std::string::npos) edges.push_back(name.substr(name.find('"')));
    if (!is_edge && line.find("penwidth=\"3\"") != std::string::npos) nodes.push_back(name.substr(name.find('"')));
  }
  EXPECT_THAT(nodes, UnorderedElementsAre("\"gpu0\"", "\"sw0\"", "\"rp0\"", "\"cpu0\"", "\"cpu1\"", "\"numa1\""));
  EXPECT_THAT(edges, UnorderedElementsAre("\"sw0\" -- \"gpu0\"", "\"rp0\" -- \"sw0\"", "\"cpu0\" -- \"rp0\"",
                                          "\"cpu0\" -- \"cpu1\"", "\"cpu1\" -- \"numa1\""));
}

TEST(Dot, TheNodesOfARouteAreDrawnInFull) {
  auto const text = dot_text(test::big_cluster(), {"node0/gpu0", "node5/gpu1"});
  EXPECT_THAT(text, HasSubstr("cluster host node5"));
  EXPECT_THAT(text, Not(HasSubstr("cluster host node4")));
}

TEST(Dot, LabelsAreEscaped) {
  auto machine = test::two_switch();
  machine.title = "a \"quoted\" back\\slash\ttab";
  machine.name = "a \"quoted\" back\\slash";
  auto const text = dot_text(machine);
  EXPECT_THAT(text, HasSubstr(R"(graph "a \"quoted\" back\\slash")"));
  EXPECT_THAT(text, HasSubstr("a &quot;quoted&quot; back\\slash tab"));
}

TEST(Dot, AGpuWithSeveralPeersNamesThem) {
  auto machine = test::two_switch();
  machine.nvlinks.push_back(
      {*machine.find_function("gpu0"), *machine.find_function("gpu3"), machine.nvlinks.front().part, 1});
  EXPECT_THAT(dot_text(machine), HasSubstr("NVLink 2 x1: gpu3"));
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
