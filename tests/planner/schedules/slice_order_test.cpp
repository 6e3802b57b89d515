// The order of slices: paths with known savings.
#include "core/planner/schedules/slice_order.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

using Path = std::vector<std::size_t>;

TEST(SliceOrder, FollowsTheLargestSavings) {
  std::vector<std::vector<double>> const savings{{0, 0, 3, 0}, {0, 0, 2, 1}, {3, 2, 0, 0}, {0, 1, 0, 0}};
  EXPECT_EQ(path_of_savings(savings, 0), (Path{0, 2, 1, 3}));
  EXPECT_EQ(path_of_savings(savings, 3), (Path{3, 1, 2, 0}));
}

// Nearest neighbours give 0, 1, 2, 3 with savings 5 + 3 + 0. Reversing the middle gives 4 + 3 + 2.
TEST(SliceOrder, ReversesAStretchIfThatSavesMore) {
  std::vector<std::vector<double>> const savings{{0, 5, 4, 0}, {5, 0, 3, 2}, {4, 3, 0, 0}, {0, 2, 0, 0}};
  EXPECT_EQ(path_of_savings(savings, 0), (Path{0, 2, 1, 3}));
}

TEST(SliceOrder, OfNothingIsEmpty) { EXPECT_TRUE(path_of_savings({}, 0).empty()); }

}  // namespace
}  // namespace lanewise
