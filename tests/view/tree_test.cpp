#include "core/view/machine/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/golden.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

TEST(Tree, OneMachine) { test::expect_golden("view/golden/two_switch.tree", tree_text(test::two_switch())); }
TEST(Tree, TwoNodesCabledDirectly) {
  test::expect_golden("view/golden/small_cluster.tree", tree_text(test::small_cluster()));
}
TEST(Tree, EqualNodesAreShownOnce) {
  test::expect_golden("view/golden/big_cluster.tree", tree_text(test::big_cluster()));
}

TEST(Tree, ManySwitchesAreShownByTheirLikeness) {
  auto const text = tree_text(test::huge_cluster());
  EXPECT_THAT(text, HasSubstr("96 alike, leaf0.rail0 to leaf47.rail1"));
  EXPECT_THAT(text, HasSubstr("6 alike, pod0 to pod5 (4 switches each)"));
  EXPECT_THAT(text, HasSubstr("2 NICs each"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 50);
}

TEST(Tree, AFlatTreeHasNoPortsAbove) {
  auto const machine = test::machine_from(R"(lanewise: machine/1
machine: flat
settings: {acs: on}
sockets:
  - socket: cpu0
    part: unknown
    pcie: [{gpu: gpu0, part: unknown, link: unknown}]
)");
  test::expect_golden("view/golden/flat.tree", tree_text(machine));
}

}  // namespace
}  // namespace lanewise
