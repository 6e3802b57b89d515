#include "core/model/place_classes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;

std::vector<Place> gpus_of(Machine const& machine) {
  std::vector<Place> places;
  for (auto const gpu : machine.all(PciKind::Gpu)) places.emplace_back(gpu);
  return places;
}
// GPUs, drives, NICs and host memory.
std::vector<Place> all_places(Machine const& machine) {
  auto places = gpus_of(machine);
  for (auto const kind : {PciKind::Nic, PciKind::Nvme})
    for (auto const id : machine.all(kind)) places.emplace_back(id);
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i) places.emplace_back(NumaId(i));
  return places;
}

std::size_t classes_among(Model const& model, std::vector<Place> const& places) {
  std::unordered_set<PairClass> found;
  for (auto const& from : places)
    for (auto const& to : places) found.insert(model.classes().of(from, to));
  return found.size();
}

Machine with_setting(std::string const& name, std::string const& setting) {
  auto catalogue = test::bundled();
  auto machine = catalogue.machine(name);
  apply_setting(machine, parse_setting(setting), catalogue);
  return machine;
}

TEST(PlaceClasses, EveryPairOfOneMachineIsAClass) {
  Model const model(test::bundled().machine("hgx-h100"));
  EXPECT_EQ(classes_among(model, gpus_of(model.machine())), 64U);
}

// All 32 nodes are on the same leaves: pairs within a node, and pairs of two nodes.
TEST(PlaceClasses, AClusterOfEqualNodesHasThoseOfOneNodeAndOfTwo) {
  Model const model(test::bundled().machine("hgx-h100-32"));
  EXPECT_EQ(classes_among(model, gpus_of(model.machine())), 64U + 64U);
}

// Four groups of 32 nodes have leaves of their own: pairs across groups pass a spine.
TEST(PlaceClasses, LeavesThatTwoNodesShareMakeADifference) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine(std::string(LANEWISE_SOURCE_DIR) + "/bench/hgx-h100-128.yaml"));
  EXPECT_EQ(classes_among(model, gpus_of(model.machine())), 64U + 64U + 64U);
}

TEST(PlaceClasses, ANodeWithASettingOfItsOwnIsLikeNoOther) {
  Model const model(with_setting("hgx-h100-32", "link@node5/gpu3=gen3 x8"));
  EXPECT_EQ(classes_among(model, gpus_of(model.machine())), 2 * 64U + 3 * 64U);
}

TEST(PlaceClasses, ANodeWithAWidenedResourceIsLikeNoOther) {
  Model const model(test::bundled().machine("hgx-h100-32"));
  auto const nic = *model.machine().find_function("node5/nic3");
  std::vector<ResourceId> const wire{model.resources().wire(nic).up};
  auto const widened = model.widened(wire, 2);
  EXPECT_EQ(classes_among(widened, gpus_of(model.machine())), 2 * 64U + 3 * 64U);
}

// Which resources are a node's, their names say. Where they do not, nothing is taken for alike.
TEST(PlaceClasses, NodesWhoseResourcesCannotBeToldApartAreOne) {
  auto machine = test::bundled().machine("hgx-h100-2");
  machine.hosts[1].name = "another";
  Model const model(machine);
  EXPECT_EQ(classes_among(model, gpus_of(machine)), 16U * 16U);
}

// Holds every choice, and the demand of every way, to those of the first pair of its class.
void expect_alike(Model const& model, std::vector<Place> const& places, Op op) {
  auto const& classes = model.classes();
  Planner const planner(model);
  struct First {
    Request request;
    Choice choice;
  };
  std::unordered_map<PairClass, First> firsts;
  for (auto const& from : places)
    for (auto const& to : places) {
      Request const request{.id = "t", .from = from, .to = to, .bytes = 1_MiB, .op = op};
      if (possible_ways(model.machine(), request).empty()) continue;
      auto const choice = planner.choose(request);
      auto const [first, is_new] = firsts.try_emplace(classes.of(from, to), First{request, choice});
      if (is_new) continue;
      auto const& [like, expected] = first->second;
      auto const at = classes.nodes_of(like.from, like.to);
      auto const here = classes.nodes_of(from, to);
      auto const names = model.machine().name_of(from) + " to " + model.machine().name_of(to);
      ASSERT_EQ(choice.chosen, expected.chosen) << names;
      ASSERT_EQ(choice.evaluated.size(), expected.evaluated.size()) << names;
      for (std::size_t i = 0; i < choice.evaluated.size(); ++i) {
        auto const& one = choice.evaluated[i];
        auto const& other = expected.evaluated[i];
        ASSERT_EQ(one.refused_by, other.refused_by) << names;
        ASSERT_EQ(one.way, classes.moved(other.way, at, here)) << names;
        ASSERT_EQ(one.cost.has_value(), other.cost.has_value()) << names;
        if (one.refused_by != nullptr) continue;
        if (one.cost) {
          ASSERT_EQ(one.cost->time, other.cost->time) << names;
        }
        auto const demand = model.lower(from, to, request.bytes, op, one.way);
        auto const of_first = model.lower(like.from, like.to, request.bytes, op, other.way);
        ASSERT_EQ(demand.uses.size(), of_first.uses.size()) << names;
        for (std::size_t u = 0; u < demand.uses.size(); ++u) {
          auto const slot = classes.slot_of(of_first.uses[u].resource, at);
          ASSERT_TRUE(slot) << names;
          EXPECT_EQ(demand.uses[u].resource, classes.resource_at(*slot, here)) << names;
          EXPECT_EQ(demand.uses[u].weight, of_first.uses[u].weight) << names;
        }
        ASSERT_EQ(demand.engines.size(), of_first.engines.size()) << names;
        for (std::size_t e = 0; e < demand.engines.size(); ++e)
          EXPECT_EQ(demand.engines[e], classes.engine_at(*classes.slot_of(of_first.engines[e], at), here)) << names;
      }
    }
}

class ClassesOfClusters : public testing::TestWithParam<char const*> {};

TEST_P(ClassesOfClusters, HoldPairsThatAreAlike) {
  auto machine = test::bundled().machine(GetParam());
  // Of large clusters three nodes: two are alike to a third in every way that many are.
  std::vector<Place> places;
  for (auto const& place : all_places(machine))
    if (index(machine.host_of(place)) < 3) places.push_back(place);
  Model const model(std::move(machine));
  for (auto const op : {Op::Copy, Op::Write, Op::Read}) expect_alike(model, places, op);
}

INSTANTIATE_TEST_SUITE_P(Bundled, ClassesOfClusters,
                         testing::Values("a30-2", "dgx-1-v100-4", "gh200x4-2", "hgx-h100-2", "hgx-h100-32", "mi-edr-2",
                                         "soft-roce-2", "soft-roce-3"));

// Nodes of three groups of leaves: pairs across two groups take the uplinks of their own leaves.
TEST(PlaceClasses, HoldPairsThatAreAlikeAcrossSpines) {
  auto machine = test::bundled().machine(std::string(LANEWISE_SOURCE_DIR) + "/bench/hgx-h100-128.yaml");
  std::vector<Place> places;
  for (auto const& place : all_places(machine))
    for (auto const node : {0U, 1U, 33U, 127U})
      if (index(machine.host_of(place)) == node) places.push_back(place);
  Model const model(std::move(machine));
  expect_alike(model, places, Op::Copy);
}

// Node 1 differs; nodes 0 and 2 are alike.
TEST(PlaceClasses, HoldPairsThatAreAlikeWhereANodeDiffers) {
  auto machine = with_setting("dgx-1-v100-4", "acs@node1/gpu0=on");
  auto const places = all_places(machine);
  Model const model(std::move(machine));
  expect_alike(model, places, Op::Copy);
}

}  // namespace
}  // namespace lanewise
