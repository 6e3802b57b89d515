// Rings and groups of participants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "tests/planner/collectives/collective_cases.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::among;
using test::bundled;

// A GPU of a V100 cube mesh has six links: three rings in two directions. A P100 has four: two rings. On NVSwitch there
// is one.
TEST(ParticipantLayout, FindsAllDisjointRings) {
  auto const rings = [](std::string const& name) {
    Model const model(bundled(name));
    return layout_of(model, among(model.machine(), CollectiveOp::AllReduce, 8, 1_MiB)).rings.size();
  };
  EXPECT_EQ(rings("dgx-1-v100"), 6U);
  EXPECT_EQ(rings("dgx-1-p100"), 4U);
  EXPECT_EQ(rings("hgx-h200"), 1U);
}

TEST(ParticipantLayout, GroupsWhatNvlinkJoins) {
  Model const pairs(bundled("ncv4"));
  auto const layout = layout_of(pairs, among(pairs.machine(), CollectiveOp::AllGather, 4, 1_MiB));
  EXPECT_THAT(layout.groups, testing::ElementsAre(testing::ElementsAre(0, 1), testing::ElementsAre(2, 3)));
}

}  // namespace
}  // namespace lanewise
