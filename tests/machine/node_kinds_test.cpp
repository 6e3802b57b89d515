#include "core/machine/node_kinds.hpp"

#include <gtest/gtest.h>

#include "core/view/machine/words.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

TEST(NodeKinds, ASingleMachineIsItsOwnKind) {
  auto const machine = test::two_switch();
  auto const kinds = node_kinds(machine);
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds.front().machine, machine);
}

TEST(NodeKinds, ANodeOfAClusterIsTheMachineItWasMadeOf) {
  auto expected = test::machine_from(test::node_file());
  auto const cluster = test::big_cluster();
  auto kinds = node_kinds(cluster);
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds.front().hosts.size(), 6U);
  EXPECT_EQ(host_names(cluster, kinds.front().hosts), "node0..node5");
  for (auto& function : kinds.front().machine.functions) function.rail.reset();  // the fabric numbered them
  EXPECT_EQ(kinds.front().machine, expected);
}

TEST(NodeKinds, ANodeThatDiffersIsAKindOfItsOwn) {
  auto cluster = test::big_cluster();
  cluster.functions[index(*cluster.find_function("node2/gpu0"))].link = PcieLink{3, 8};
  auto const kinds = node_kinds(cluster);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(host_names(cluster, kinds[0].hosts), "node0, node1, node3..node5");
  EXPECT_EQ(host_names(cluster, kinds[1].hosts), "node2");
}

}  // namespace
}  // namespace lanewise
