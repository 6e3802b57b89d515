#include "core/view/machine/machine_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.hpp"
#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

TEST(MachineJson, OneMachineLoadsBack) {
  auto const machine = test::two_switch();
  auto const text = machine_json(machine).dump(2) + "\n";
  test::expect_golden("view/golden/two_switch.json", text);
  EXPECT_EQ(test::machine_from(text), machine);
}

TEST(MachineJson, AClusterNamesTheNodesOfEachMachine) {
  auto const json = machine_json(test::big_cluster());
  test::expect_golden("view/golden/big_cluster.json", json.dump(2) + "\n");
  EXPECT_EQ(json["lanewise"], "cluster-view/1");
  auto node = test::machine_from(json["machines"][0]["machine"].dump());
  EXPECT_EQ(node.all(PciKind::Gpu).size(), 2U);
}

}  // namespace
}  // namespace lanewise
