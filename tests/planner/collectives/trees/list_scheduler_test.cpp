// Start times of hops that can be computed by hand.
#include <gtest/gtest.h>

#include "core/planner/collectives/trees/list_scheduler.hpp"
#include "tests/planner/collectives/collective_cases.hpp"

namespace lanewise {
namespace {

using test::capped_leg;

// Start times in seconds of hops of a gigabyte on legs of 1 GB/s.
std::vector<double> starts_of(Packing const& packing, std::vector<ScheduledHop> hops) {
  for (auto& hop : hops) hop.bytes = 1e9;
  std::vector<double> starts(hops.size());
  for (auto const& hop : list_schedule(packing, hops)) starts[hop.chunk] = hop.start.value();
  return starts;
}

// What 0 sends to 1 goes on to 3; meanwhile 0 sends something else to 2.
TEST(ListSchedule, SharesWhatLegsShare) {
  Packing packing{{capped_leg(0, 1), capped_leg(0, 2), capped_leg(1, 3)}, {}, {1e9}};
  std::vector<ScheduledHop> const hops{
      {.chunk = 0, .leg = 0, .remaining_hops = 1}, {.chunk = 1, .leg = 1}, {.chunk = 2, .leg = 2, .predecessor = 0}};
  EXPECT_EQ(starts_of(packing, hops), (std::vector<double>{0, 0, 1}));
  for (std::size_t leg = 0; leg < 2; ++leg) packing.legs[leg].uses = {{0, 1}};
  EXPECT_NEAR(starts_of(packing, hops)[2], 2, 1e-6);
  packing.legs[0].handover = Seconds(0.9);  // meanwhile the other flow has the port alone
  EXPECT_NEAR(starts_of(packing, hops)[2], 0.9 + 0.2 + 0.9, 1e-6);
  packing.legs[0].handover = Seconds(3);
  EXPECT_NEAR(starts_of(packing, hops)[2], 4, 1e-6);
}

TEST(ListSchedule, WaitsForEngines) {
  Packing packing{{capped_leg(0, 1), capped_leg(0, 2), capped_leg(0, 3)}, {}, {2}};
  for (auto& leg : packing.legs) leg.engines = {0};
  std::vector<ScheduledHop> const hops{{.chunk = 0, .leg = 0}, {.chunk = 1, .leg = 1}, {.chunk = 2, .leg = 2}};
  EXPECT_EQ(starts_of(packing, hops), (std::vector<double>{0, 0, 1}));
}

}  // namespace
}  // namespace lanewise
