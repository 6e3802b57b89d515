#include "lanewise/units/quantity.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

using namespace literals;

static_assert(1_GB / 10.0_GBps == 0.1_s);
static_assert(1_GB / 0.1_s == 10.0_GBps);
static_assert(256_MiB == Bytes(268435456));
static_assert(4_KiB + 4_KiB == 8_KiB);
static_assert(2_MiB / 1_MiB == 2.0);
static_assert(1_KiB < 1_MiB);

TEST(Quantity, UnlimitedRateTakesNoTime) { EXPECT_EQ((1_GB / kUnlimited).value(), 0.0); }

}  // namespace
}  // namespace lanewise
