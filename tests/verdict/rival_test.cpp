// A plan and its rivals run in turn on hardware whose times are noisy; the times are what the tests say.
#include "lanewise/verdict/rival.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "lanewise/planner/planner.hpp"
#include "lanewise/verdict/regret.hpp"
#include "tests/verdict/noisy_executor.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::Noise;
using test::NoisyExecutor;
using testing::HasSubstr;

constexpr Seconds kLong{1};  // a budget that no test uses up

// Plans on the machine of two GPUs below a switch; staging through the host is every copy's only rival.
class InTurnTest : public testing::Test {
 protected:
  // A copy between the two GPUs, and with `beside` another from the third GPU to the host.
  Plan plan(bool beside = false) {
    auto const& machine = model_.machine();
    std::vector<Request> requests{
        {.id = "copy", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 64_MiB}};
    if (beside)
      requests.push_back(
          {.id = "beside", .from = machine.place("gpu2"), .to = machine.place("numa0"), .bytes = 64_MiB});
    return Planner(model_).plan(requests);
  }

  // Peer copies take 1 ms, staged ones `staged`; the copy to the host takes 3 ms.
  static test::Durations durations(Seconds staged) {
    return {{Mechanism::PcieP2p, 1000.0_us},
            {Mechanism::HostStaged, staged},
            {Mechanism::SharedHost, 4000.0_us},
            {Mechanism::HostDma, 3000.0_us}};
  }

  std::vector<Regret> regrets(Plan const& plan, NoisyExecutor& executor, Alternation alternation = {kLong, 24}) {
    return measure_regrets(plan, executor.run(plan), model_.machine(), executor, alternation);
  }
  // The standing of the chosen way against staging through the host.
  static RivalResult const& staged(Regret const& regret) {
    for (auto const& rival : regret.rivals)
      if (rival.way.starts_with("host_staged")) return rival;
    throw std::logic_error("host_staged did not run");
  }

  Model model_{test::pair_machine()};
};

TEST_F(InTurnTest, ASlowerRivalIsProvenSlowerThroughDrift) {
  // The host drifts by 30 %, ten times the difference; runs of one round drift together.
  NoisyExecutor executor(durations(1030.0_us), Noise{.step = 0.005, .drift = 0.3});
  auto const regret = regrets(plan(), executor).front();
  EXPECT_EQ(staged(regret).standing(), Standing::Better);
  EXPECT_LE(staged(regret).makespan_ratio.interval.low, 1.03);
  EXPECT_GE(staged(regret).makespan_ratio.interval.high, 1.03);
  EXPECT_NE(regret.standing(), Standing::Worse);
  EXPECT_EQ(regret.share(), 0);
}

TEST_F(InTurnTest, AFasterRivalIsARegretWithAnInterval) {
  NoisyExecutor executor(durations(900.0_us), Noise{.step = 0.01});
  auto const regret = regrets(plan(), executor).front();
  EXPECT_EQ(regret.standing(), Standing::Worse);
  EXPECT_THAT(regret.best, HasSubstr("host_staged"));
  EXPECT_NEAR(regret.share(), 1 / 0.9 - 1, 0.03);
  EXPECT_LE(regret.least_share(), 1 / 0.9 - 1);
  EXPECT_GT(regret.least_share(), 0);
}

TEST_F(InTurnTest, ADifferenceBelowTheNoiseIsNone) {
  NoisyExecutor executor(durations(990.0_us), Noise{.step = 0.1});
  auto const regret = regrets(plan(), executor).front();
  EXPECT_EQ(staged(regret).standing(), Standing::WithinNoise);
  EXPECT_EQ(regret.share(), 0);
  EXPECT_THAT(regret.best, HasSubstr("pcie_p2p"));
}

TEST_F(InTurnTest, WaysThatTakeTheSameTimeAreTheSame) {
  NoisyExecutor executor(durations(1000.0_us), Noise{.step = 0.001});
  EXPECT_EQ(staged(regrets(plan(), executor).front()).standing(), Standing::Same);
}

TEST_F(InTurnTest, FalseRegretsAreRare) {
  // Both ways take the same time; of 200 verdicts at most 5 % may find a regret, in the mean.
  int false_regrets = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    NoisyExecutor executor(durations(1000.0_us), Noise{.step = 0.05}, seed);
    false_regrets += regrets(plan(), executor).front().standing() == Standing::Worse ? 1 : 0;
  }
  EXPECT_LE(false_regrets, 10);
}

TEST_F(InTurnTest, ADecisionOffTheCriticalPathIsJudgedByItsOwnEnd) {
  // The makespan is the other copy's, which differs by 15 % from run to run.
  NoisyExecutor executor(durations(1300.0_us), Noise{.step = 0.01, .of_transfer = {{"beside", 0.15}}});
  auto const regret = regrets(plan(true), executor).front();
  auto const& rival = staged(regret);
  EXPECT_NE(standing_of(rival.makespan_ratio), Standing::Better);
  EXPECT_EQ(standing_of(*rival.end_ratio), Standing::Better);
  EXPECT_EQ(rival.standing(), Standing::Better);
}

TEST_F(InTurnTest, ARivalThatOnlyEndsItsOwnTransferEarlierIsARegretOfThatEnd) {
  NoisyExecutor executor(durations(700.0_us), Noise{.step = 0.001});
  auto const regret = regrets(plan(true), executor).front();
  EXPECT_EQ(regret.standing(), Standing::Worse);
  EXPECT_LT(regret.share(), kSameTime);  // the makespan is the same
  EXPECT_NEAR(regret.better_rival()->end_ratio->value, 0.7, 0.01);
}

TEST_F(InTurnTest, SettledRivalsLeaveAndTheRoundsEnd) {
  NoisyExecutor executor(durations(2000.0_us), Noise{.step = 0.01});
  auto const regret = regrets(plan(), executor).front();
  EXPECT_LT(staged(regret).rounds, 12U);
  // Reading instead of writing takes the same time, which 1 % of noise leaves open: it runs to the end, the first round
  // untimed.
  auto const most = std::max_element(regret.rivals.begin(), regret.rivals.end(),
                                     [](auto const& a, auto const& b) { return a.rounds < b.rounds; });
  EXPECT_EQ(most->rounds, 23U);
  constexpr int kOfTrace = 7;
  auto runs = kOfTrace + 24 + static_cast<int>(regret.rivals.size());
  for (auto const& rival : regret.rivals) runs += static_cast<int>(rival.rounds);
  EXPECT_EQ(executor.runs, runs);
}

TEST_F(InTurnTest, WhatIsNotSettledGoesOnUntilItIsKnownWellEnough) {
  auto const rounds_to = [&](double noise, std::optional<double> precision) {
    NoisyExecutor executor(durations(1000.0_us), Noise{.step = noise});
    auto const result = staged(regrets(plan(), executor, {kLong, 24, precision}).front());
    EXPECT_EQ(result.standing(), Standing::WithinNoise);
    auto const& [value, interval] = result.makespan_ratio;
    return std::pair(result.rounds, (interval.high - interval.low) / 2 / value);
  };
  auto const [few, coarse] = rounds_to(0.04, std::nullopt);
  EXPECT_EQ(few, 23U);
  EXPECT_GT(coarse, 0.03);
  auto const [more, fine] = rounds_to(0.04, 0.03);
  EXPECT_GT(more, few);
  EXPECT_LT(more, 24 * kMaxExtension - 1);
  EXPECT_LE(fine, 0.03);
  EXPECT_EQ(rounds_to(0.5, 0.03).first, 24 * kMaxExtension - 1);  // it gives up
}

TEST_F(InTurnTest, WithoutABudgetNothingIsSettled) {
  NoisyExecutor executor(durations(900.0_us), Noise{.step = 0.01});
  auto const regret = regrets(plan(), executor, {Seconds(0), 1000}).front();
  EXPECT_EQ(staged(regret).standing(), Standing::WithinNoise);
  EXPECT_FALSE(staged(regret).makespan_ratio.interval.is_bounded());
  EXPECT_EQ(staged(regret).rounds, 1U);
}

TEST_F(InTurnTest, ARivalThatCannotRunSaysWhy) {
  NoisyExecutor executor(durations(2000.0_us), Noise{.step = 0.01});
  executor.refuses = {Mechanism::HostStaged};
  auto const regret = regrets(plan(), executor).front();
  EXPECT_THAT(regret.not_run, testing::Contains("not here"));
  for (auto const& rival : regret.rivals) EXPECT_THAT(rival.way, testing::Not(HasSubstr("host_staged")));
}

TEST_F(InTurnTest, LargeRivalsAreNotAllPreparedAtOnce) {
  auto const& machine = model_.machine();
  auto const chosen = Planner(model_).plan(
      {{.id = "copy", .from = machine.place("gpu0"), .to = machine.place("gpu1"), .bytes = 3_GiB}});
  NoisyExecutor executor(durations(2000.0_us), Noise{.step = 0.01});
  auto const regret = regrets(chosen, executor).front();
  EXPECT_GE(regret.alternatives, 2U);
  EXPECT_EQ(executor.most_prepared, 2);  // the plan, and one rival of 6 GiB
}

TEST(Standing, IsByMakespanThenByTheOwnEnd) {
  auto const ratio = [](double low, double high) { return TimeRatio{(low + high) / 2, {low, high}}; };
  EXPECT_EQ(standing_of(ratio(1.01, 1.2)), Standing::Better);
  EXPECT_EQ(standing_of(ratio(0.995, 1.2)), Standing::Same);
  EXPECT_EQ(standing_of(ratio(0.8, 0.97)), Standing::Worse);
  EXPECT_EQ(standing_of(ratio(0.9, 1.1)), Standing::WithinNoise);
  EXPECT_EQ(standing_of(TimeRatio{}), Standing::Same);
  // A rival that ends the transfer earlier but makes the makespan longer is no better.
  EXPECT_EQ(standing_of(ratio(1.01, 1.2), ratio(0.5, 0.6)), Standing::Better);
  EXPECT_EQ(standing_of(ratio(0.99, 1.2), ratio(0.5, 0.6)), Standing::Same);
  EXPECT_EQ(standing_of(ratio(0.9, 1.1), ratio(0.5, 0.6)), Standing::Worse);
  EXPECT_EQ(standing_of(ratio(0.9, 1.1), ratio(0.9, 1.1)), Standing::WithinNoise);
}

}  // namespace
}  // namespace lanewise
