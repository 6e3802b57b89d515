#include "lanewise/machine/pcie_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanewise {
namespace {

using ::testing::HasSubstr;

TEST(PcieLink, ReadsWhatPeopleAndLspciWrite) {
  EXPECT_EQ(parse_pcie_link("gen4 x16").value, (PcieLink{4, 16}));
  EXPECT_EQ(parse_pcie_link("gen4x16").value, (PcieLink{4, 16}));
  EXPECT_EQ(parse_pcie_link("16 GT/s x8").value, (PcieLink{4, 8}));
  EXPECT_EQ(parse_pcie_link("32.0 GT/s x1").value, (PcieLink{5, 1}));
  EXPECT_EQ(parse_pcie_link("2.5 GT/s x32").value, (PcieLink{1, 32}));
}

TEST(PcieLink, RefusesWithAReason) {
  EXPECT_THAT(parse_pcie_link("gen7 x16").problem, HasSubstr("gen1 to gen6"));
  EXPECT_THAT(parse_pcie_link("gen0 x16").problem, HasSubstr("gen1 to gen6"));
  EXPECT_THAT(parse_pcie_link("10 GT/s x16").problem, HasSubstr("gen1 to gen6"));
  EXPECT_THAT(parse_pcie_link("gen4").problem, HasSubstr("the width is missing"));
  EXPECT_THAT(parse_pcie_link("gen4 x3").problem, HasSubstr("x1, x2, x4, x8, x12, x16 or x32"));
  EXPECT_THAT(parse_pcie_link("gen4 x").problem, HasSubstr("number of lanes"));
  EXPECT_THAT(parse_pcie_link("gen4 x16 ").problem, HasSubstr("number of lanes"));
  EXPECT_THAT(parse_pcie_link("").problem, HasSubstr("gen4 x16"));
}

TEST(PcieLink, WritesWhatItReads) {
  for (int generation = 1; generation <= 6; ++generation)
    for (int const width : {1, 2, 4, 8, 12, 16, 32}) {
      PcieLink const link{generation, width};
      EXPECT_EQ(parse_pcie_link(to_string(link)).value, link);
    }
}

TEST(PcieLink, RatesAndGenerations) {
  for (int generation = 1; generation <= 6; ++generation)
    EXPECT_EQ(generation_of_rate(gigatransfers_per_second(generation)), generation);
  EXPECT_EQ(gigatransfers_per_second(5), 32);
  EXPECT_EQ(generation_of_rate(7), 0);
}

TEST(PcieLink, EndsNegotiateTheLesserOfEach) { static_assert(negotiated({5, 8}, {4, 16}) == PcieLink{4, 8}); }

}  // namespace
}  // namespace lanewise
