#include "core/planner/sharing.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace lanewise {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST(Sharing, GivesEqualRatesAndTheRestToWhoCanUseIt) {
  Sharing sharing({30, 100});
  std::vector<Sharing::Use> const narrow{{0, 1}, {1, 1}};
  std::vector<Sharing::Use> const wide{{1, 1}};
  Sharing::Flow a{narrow, kNone};
  Sharing::Flow b{narrow, 5};
  Sharing::Flow c{wide, kNone};
  std::vector<Sharing::Flow*> flows{&a, &b, &c};
  sharing.share(flows);
  EXPECT_DOUBLE_EQ(b.rate, 5);   // its cap
  EXPECT_DOUBLE_EQ(a.rate, 25);  // what is left of 30
  EXPECT_DOUBLE_EQ(c.rate, 70);
}

TEST(Sharing, CountsWeights) {
  Sharing sharing({30});
  std::vector<Sharing::Use> const once{{0, 1}};
  std::vector<Sharing::Use> const twice{{0, 2}};
  Sharing::Flow a{once, kNone};
  Sharing::Flow b{twice, kNone};
  std::vector<Sharing::Flow*> flows{&a, &b};
  sharing.share(flows);
  EXPECT_DOUBLE_EQ(a.rate, 10);
  EXPECT_DOUBLE_EQ(b.rate, 10);
}

}  // namespace
}  // namespace lanewise
