// The heuristic that divides bytes over options.
#include "core/planner/sets/load_balance.hpp"

#include <gtest/gtest.h>

#include "core/planner/sets/draft.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;

std::vector<SetMember> all_of(TransferSet const& set) {
  std::vector<SetMember> together;
  for (std::size_t i = 0; i < set.transfers.size(); ++i) together.push_back({&set.transfers[i], set.default_option[i]});
  return together;
}

TransferSet exchange(Model const& model, Bytes bytes) {
  auto const& machine = model.machine();
  return transfer_set(
      Planner(model).plan({{.id = "there", .from = machine.place("gpu0"), .to = machine.place("gpu3"), .bytes = bytes},
                           {.id = "back", .from = machine.place("gpu3"), .to = machine.place("gpu0"), .bytes = bytes},
                           {.id = "near", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = bytes}}),
      model);
}

// can_balance_within stops early, when shares are found or none can be.
TEST(LoadBalance, IsWithinItsOwnTimeAndNotHalf) {
  Model const model(test::machine_of({.nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 1}"}));
  for (auto const bytes : {1_MiB, 64_MiB, 1_GiB}) {
    auto const set = exchange(model, bytes);
    auto const together = all_of(set);
    auto const longest = balance_load(together, model).longest;
    EXPECT_TRUE(can_balance_within(longest * 1.000001, together, model));
    EXPECT_FALSE(can_balance_within(longest * 0.5, together, model));
  }
}

TEST(LoadBalance, OfOneOptionEachIsTheBusiestResource) {
  Model const model(test::machine_of({}));
  auto set = exchange(model, 64_MiB);
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    set.transfers[i].options = {set.transfers[i].options[set.default_option[i]]};
    set.default_option[i] = 0;
  }
  auto const together = all_of(set);
  auto const longest = balance_load(together, model).longest;
  EXPECT_TRUE(can_balance_within(longest, together, model));
  EXPECT_FALSE(can_balance_within(longest * 0.999, together, model));
}

}  // namespace
}  // namespace lanewise
