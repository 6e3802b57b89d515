#include "core/view/machine/tree.hpp"

#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

TEST(Tree, OneMachine) { test::expect_golden("view/golden/two_switch.tree", tree_text(test::two_switch())); }
TEST(Tree, TwoNodesCabledDirectly) {
  test::expect_golden("view/golden/small_cluster.tree", tree_text(test::small_cluster()));
}
TEST(Tree, EqualNodesAreShownOnce) {
  test::expect_golden("view/golden/big_cluster.tree", tree_text(test::big_cluster()));
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
