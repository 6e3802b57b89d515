// What a planner of collectives remembers is what it would find again.
#include "lanewise/planner/choice/collective_planner.hpp"

#include <gtest/gtest.h>

#include "lanewise/io/error.hpp"
#include "tests/planner/collectives/collective_cases.hpp"
#include "tests/support/parameter_name.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::among;
using test::bundled;

class KeptPlans : public testing::TestWithParam<char const*> {
 protected:
  // Calls check(collective) for many collectives on the machine.
  template <class Check>
  void for_each_collective(Check const& check) const {
    for (auto const op :
         {CollectiveOp::Broadcast, CollectiveOp::AllGather, CollectiveOp::AllReduce, CollectiveOp::AllToAll,
          CollectiveOp::ReduceScatter, CollectiveOp::Reduce, CollectiveOp::Chain})
      for (auto const bytes : {64_KiB, 48_MiB}) check(among(model_.machine(), op, 4, bytes));
  }

  Model const model_{bundled(GetParam())};
};

TEST_P(KeptPlans, TheBestAloneIsTheFirstOfAll) {
  for_each_collective([&](Collective const& collective) {
    auto const all = plans_of_collective(model_, collective, Keep::All);
    auto const best = plans_of_collective(model_, collective, Keep::Best);
    ASSERT_EQ(best.size(), 1) << to_string(collective.op);
    EXPECT_EQ(best.front(), all.front()) << to_string(collective.op);
  });
}

TEST_P(KeptPlans, AreThoseOfAFreshPlanner) {
  for (auto const keep : {Keep::Best, Keep::All}) {
    CollectivePlanner planner(model_, keep);
    for (int repeated = 0; repeated < 2; ++repeated)
      for_each_collective([&](Collective const& collective) {
        EXPECT_EQ(planner.best(collective), plan_collective(model_, collective)) << to_string(collective.op);
        EXPECT_EQ(planner.all(collective), plans_of_collective(model_, collective)) << to_string(collective.op);
      });
  }
}

TEST_P(KeptPlans, ByOneAlgorithmAreAmongThoseByAny) {
  for_each_collective([&](Collective const& collective) {
    CollectivePlanner planner(model_, Keep::All);
    for (auto const& plan : planner.all(collective))
      EXPECT_EQ(planner.best(*plan.collective), plan_collective(model_, *plan.collective))
          << to_string(collective.op) << " by " << to_string(plan.collective->algorithm);
  });
}

INSTANTIATE_TEST_SUITE_P(Machines, KeptPlans, testing::Values("dgx-1-v100", "a100x8-pcie-4sw", "hgx-h100"),
                         [](auto const& machine) { return test::parameter_name(machine.param); });

TEST(CollectivePlanner, AnswersWithThePlanThatItKept) {
  Model const model(bundled("hgx-h100"));
  CollectivePlanner planner(model, Keep::All);
  auto const sum = among(model.machine(), CollectiveOp::AllReduce, 8, 16_MiB);
  auto const* first = &planner.best(sum);
  planner.best(among(model.machine(), CollectiveOp::AllGather, 8, 16_MiB));
  EXPECT_EQ(&planner.best(sum), first);
  EXPECT_EQ(&planner.all(sum).front(), first);
  EXPECT_EQ(&planner.best(*first->collective), first);
}

TEST(CollectivePlanner, RefusesWhatCannotBeDoneEachTime) {
  Model const model(bundled("hgx-h100"));
  CollectivePlanner planner(model);
  auto const odd = among(model.machine(), CollectiveOp::AllReduce, 6, 16_MiB, Algorithm::HalvingDoubling);
  for (int repeated = 0; repeated < 2; ++repeated) EXPECT_THROW(static_cast<void>(planner.best(odd)), PlanError);
}

}  // namespace
}  // namespace lanewise
