// The search among the drafts of a set, and when it ends.
#include "core/planner/search/draft_search.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/solver/linear_program.hpp"
#include "tests/support/all_to_all.hpp"
#include "tests/support/parameter_name.hpp"

namespace lanewise {
namespace {

constexpr auto kAny = std::numeric_limits<double>::infinity();

class WantedDraft : public testing::TestWithParam<std::string> {
 protected:
  // The value of the best draft.
  double search(double wanted) {
    DraftSearch search(planned_.set, planned_.model, {});
    auto const value = search.run(kAny, wanted).value;
    bound_ = search.lower_bound();
    return value;
  }

  void SetUp() override {
    if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  }

  test::AllToAll planned_{GetParam()};
  double bound_ = 0;  // of the last search
};

TEST_P(WantedDraft, IsFound) {
  auto const best = search(kAny);
  EXPECT_LE(search(best), best);
}

// Where more is wanted than orders and schedules can be expected to gain, they are left out.
TEST_P(WantedDraft, IsNotSearchedForNextToTheBound) {
  auto const best = search(kAny);
  auto const wanted = bound_ * 1.0001;
  EXPECT_GT(search(wanted), best);
}

INSTANTIATE_TEST_SUITE_P(Pcie, WantedDraft, testing::Values("a100x8-pcie-4sw", "gn5-8xp100", "a100x4-pcie-dual-socket"),
                         [](auto const& machine) { return test::parameter_name(machine.param); });

}  // namespace
}  // namespace lanewise
