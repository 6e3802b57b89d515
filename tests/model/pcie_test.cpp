#include "core/model/resources/pcie.hpp"

#include <gtest/gtest.h>

#include "core/model/resources/network.hpp"
#include "lanewise/model/resources/demand.hpp"

namespace lanewise {
namespace {

using namespace literals;

double raw(int generation, int width) { return pcie::raw_rate({generation, width}).value() / 1e9; }
double x16(int generation) { return pcie::capacity({generation, 16}, 256_B).value() / 1e9; }

// GT/s x lanes x encoding / 8.
TEST(RawRate, IsThatOfTheStandard) {
  EXPECT_DOUBLE_EQ(raw(1, 16), 4.0);
  EXPECT_DOUBLE_EQ(raw(2, 16), 8.0);
  EXPECT_NEAR(raw(3, 16), 15.75, 0.01);
  EXPECT_NEAR(raw(4, 16), 31.51, 0.01);
  EXPECT_NEAR(raw(5, 16), 63.02, 0.01);
  EXPECT_NEAR(raw(6, 16), 121.0, 0.01);
  for (int generation = 1; generation <= 6; ++generation) EXPECT_DOUBLE_EQ(raw(generation, 4), raw(generation, 16) / 4);
}

// 26 bytes around a packet's payload (24 up to gen2), 16 bytes of link-layer packets every four.
TEST(PacketEfficiency, CountsHeadersAndLinkLayer) {
  EXPECT_DOUBLE_EQ(pcie::packet_efficiency(4, 256_B), 256.0 / 286);
  EXPECT_DOUBLE_EQ(pcie::packet_efficiency(5, 128_B), 128.0 / 158);
  EXPECT_DOUBLE_EQ(pcie::packet_efficiency(2, 128_B), 128.0 / 156);
  EXPECT_DOUBLE_EQ(pcie::packet_efficiency(3, 64_B), 64.0 / 94);
}

// What x16 GPUs were measured to move.
TEST(Capacity, LiesInThePublishedRanges) {
  EXPECT_GE(x16(3), 12.1);
  EXPECT_LE(x16(3), 13.2);
  EXPECT_GE(x16(4), 25.9);
  EXPECT_LE(x16(4), 27.1);
  EXPECT_GE(x16(5), 53.0);
  EXPECT_LE(x16(5), 57.3);
}

TEST(Capacity, StaysBelowWhatHeadersLeave) {
  for (int generation = 3; generation <= 6; ++generation)
    for (auto const payload : {64_B, 128_B, 256_B, 512_B}) {
      auto const ceiling = pcie::raw_rate({generation, 16}) *
                           (static_cast<double>(payload.value()) / static_cast<double>(payload.value() + 24));
      EXPECT_LT(pcie::capacity({generation, 16}, payload), ceiling) << generation << ' ' << payload.value();
    }
}

TEST(Capacity, GrowsWithPayloadWidthAndGeneration) {
  EXPECT_LT(pcie::capacity({4, 16}, 128_B), pcie::capacity({4, 16}, 256_B));
  EXPECT_DOUBLE_EQ(pcie::capacity({4, 8}, 256_B) / pcie::capacity({4, 16}, 256_B), 0.5);
  for (int generation = 2; generation <= 6; ++generation)
    EXPECT_LT(pcie::capacity({generation - 1, 16}, 256_B), pcie::capacity({generation, 16}, 256_B));
}

TEST(PacketPenalty, IsTheRatioOfEfficiencies) {
  EXPECT_DOUBLE_EQ(pcie::packet_penalty(4, 64_B, 256_B), (256.0 / 286) / (64.0 / 94));
  EXPECT_DOUBLE_EQ(pcie::packet_penalty(4, 256_B, 256_B), 1);
}

// Little's law: 256 x 512 B / 1 us.
TEST(OutstandingReads, AreTagsTimesRequestOverRoundTrip) {
  EXPECT_DOUBLE_EQ(pcie::outstanding_read_limit(256, 512_B, 1.0_us).value() / 1e9, 131.072);
  EXPECT_DOUBLE_EQ(pcie::outstanding_read_limit(32, 128_B, 0.55_us).value(), 32 * 128 / 0.55e-6);
  EXPECT_DOUBLE_EQ(pcie::read_request_share(512_B), 24.0 / 512);
}

TEST(WireEfficiency, CountsEachLayersHeaders) {
  EXPECT_DOUBLE_EQ(network::wire_efficiency(LinkLayer::InfiniBand, Transport::ByLinkLayer, 4096_B),
                   4096.0 / (4096 + 28));
  EXPECT_DOUBLE_EQ(network::wire_efficiency(LinkLayer::Ethernet, Transport::ByLinkLayer, 4096_B), 4096.0 / (4096 + 82));
  EXPECT_DOUBLE_EQ(network::wire_efficiency(LinkLayer::Ethernet, Transport::RoceV2, 1024_B), 1024.0 / (1024 + 82));
  EXPECT_DOUBLE_EQ(network::wire_efficiency(LinkLayer::Ethernet, Transport::RoceV1, 1024_B), 1024.0 / (1024 + 94));
  EXPECT_DOUBLE_EQ(network::wire_efficiency(LinkLayer::Ethernet, Transport::Iwarp, 1024_B), 1024.0 / (1024 + 110));
}

TEST(WeightArithmetic, IsInTwentieths) {
  static_assert(Weight().units() == 20 && Weight().ratio() == 1);
  static_assert(Weight::of(1) == Weight());
  EXPECT_EQ(Weight::of(2).units(), 40);
  EXPECT_EQ(Weight::of(1.2).units(), 24);                          // 6/5
  EXPECT_EQ(Weight::of((256.0 / 286) / (64.0 / 94)).units(), 26);  // 1.3147 x 20 = 26.3
  EXPECT_EQ(Weight::of(24.0 / 512).units(), 1);                    // 0.94 of a twentieth
  EXPECT_EQ(Weight::of(1.025).units(), 21);                        // half goes up
  EXPECT_EQ(Weight::of(0).units(), 1);                             // never nothing
  EXPECT_EQ(Weight::of(1e6).units(), 2000);                        // nor without bound
  auto sum = Weight::of(1);
  sum.add(Weight::of(0.05));
  EXPECT_EQ(sum, Weight::of(1.05));
  EXPECT_LT(Weight::of(0.5), Weight::of(0.55));
}

TEST(WeightArithmetic, AFloorIsNeverMoreThanTheRatio) {
  for (double ratio = 0.1; ratio < 4; ratio += 0.013) {
    EXPECT_LE(Weight::floor_of(ratio).ratio(), ratio + 1e-9) << ratio;
    EXPECT_GT(Weight::floor_of(ratio).ratio(), ratio - 0.0501) << ratio;
  }
}

}  // namespace
}  // namespace lanewise
