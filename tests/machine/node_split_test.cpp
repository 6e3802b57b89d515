#include "core/machine/node_split.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "lanewise/explain/choice_explanation.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;

TEST(NodeSplit, TheMachineOfAllNodesIsTheMachine) {
  auto const machine = test::bundled().machine("dgx-1-v100-4");
  auto const split = NodeSplit::of(machine);
  ASSERT_TRUE(split);
  EXPECT_EQ(split->only(std::array{HostId{0}, HostId{1}, HostId{2}, HostId{3}}), machine);
}

TEST(NodeSplit, ALinkBetweenNodesJoinsThem) {
  auto machine = test::bundled().machine("dgx-1-v100-4");
  machine.nvlinks.back().a = *machine.find_function("node0/gpu0");
  EXPECT_FALSE(NodeSplit::of(machine));
}

TEST(MachineOfPlaces, HasTheNodesOfThePlacesUnderTheirNames) {
  auto const whole = test::bundled().machine("hgx-h100-32");
  std::array const ends{whole.place("node30/gpu5"), whole.place("node7/cpu1")};
  auto const [machine, places] = machine_of(whole, ends);
  ASSERT_EQ(machine.hosts.size(), 2U);
  EXPECT_EQ(machine.hosts[0].name, "node7");
  EXPECT_EQ(machine.hosts[1].name, "node30");
  EXPECT_EQ(machine.name_of(places[0]), whole.name_of(ends[0]));
  EXPECT_EQ(machine.name_of(places[1]), whole.name_of(ends[1]));
}

TEST(MachineOfPlaces, ExplainsAPairAsTheWholeMachineDoes) {
  auto const whole = test::bundled().machine("hgx-h100-32");
  std::array const ends{whole.place("node3/gpu0"), whole.place("node31/gpu5")};
  auto const [machine, places] = machine_of(whole, ends);
  auto const explained = [](Machine const& on, Place const& from, Place const& to) {
    Model const model(on);
    return why_json(explain_choice(model, {.id = "why", .from = from, .to = to, .bytes = 256_MiB}), on).dump();
  };
  EXPECT_EQ(explained(machine, places[0], places[1]), explained(whole, ends[0], ends[1]));
}

}  // namespace
}  // namespace lanewise
