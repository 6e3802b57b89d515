#include "lanewise/machine/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/marked_errors.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ExpandRange, NamesInOrder) {
  EXPECT_THAT(expand_range("gpu0..gpu3"), ElementsAre("gpu0", "gpu1", "gpu2", "gpu3"));
  EXPECT_THAT(expand_range("gpu9..11"), ElementsAre("gpu9", "gpu10", "gpu11"));
  EXPECT_THAT(expand_range("node1/gpu0..node1/gpu1"), ElementsAre("node1/gpu0", "node1/gpu1"));
  EXPECT_THAT(expand_range("node0/gpu0..node1/gpu1"),
              ElementsAre("node0/gpu0", "node0/gpu1", "node1/gpu0", "node1/gpu1"));
  EXPECT_THAT(expand_range("node2/gpu0..gpu1"), ElementsAre("node2/gpu0", "node2/gpu1"));
  EXPECT_THAT(expand_range("gpu0"), ElementsAre("gpu0"));
}

TEST(ExpandRange, RefusesWhatIsNoRange) {
  for (auto const* text : {"gpu3..gpu0", "gpu0..nic3", "node1/gpu0..node0/gpu1", "node0/gpu1..rack1/gpu3", "gpu..gpu",
                           "gpu0..", "..", "..gpu3", "gpu0..gpu99999999999", "gpu0..gpu100000"})
    EXPECT_THAT(test::input_error([&] { expand_range(text); }), HasSubstr("is not a range")) << text;
}

TEST(Places, AreMemoriesGpusNicsAndDrives) {
  auto const machine = test::machine_of({});
  EXPECT_TRUE(machine.find_place("gpu0") && machine.find_place("nic1") && machine.find_place("nvme0"));
  EXPECT_EQ(machine.find_place("numa1"), Place(NumaId{1}));
  EXPECT_EQ(machine.find_place("cpu1"), Place(NumaId{1}));  // its first NUMA node
  EXPECT_FALSE(machine.find_place("sw0") || machine.find_place("rp0") || machine.find_place("gpu9"));
  EXPECT_EQ(machine.name_of(Place(NumaId{0})), "numa0");
}

TEST(Places, AWrongNameSuggestsTheNearest) {
  auto const machine = test::machine_of({});
  EXPECT_THAT(test::input_error([&] { (void)machine.place("gp0"); }),
              AllOf(HasSubstr("'gp0' is not a place on server; did you mean 'gpu0'? places: gpu0, gpu1, nic0"),
                    HasSubstr("numa1")));
  auto const cluster = test::cluster_of({}, "kind: single_switch", 16);
  EXPECT_THAT(test::input_error([&] { (void)cluster.place("gpu0"); }), HasSubstr(", ..."));
}

TEST(Words, OpsAndIommuModesReadBack) {
  for (auto const op : {Op::Copy, Op::Write, Op::Read, Op::LoadStore, Op::Atomic})
    EXPECT_EQ(parse_op(to_string(op)).value, op);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(parse_iommu(to_string(static_cast<IommuMode>(i))).value, static_cast<IommuMode>(i));
  EXPECT_THAT(parse_op("wirte").problem, HasSubstr("did you mean 'write'?"));
}

}  // namespace
}  // namespace lanewise
