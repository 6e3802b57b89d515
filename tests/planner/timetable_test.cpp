// What moves when: the configuration program against closed forms, and the plans made from its timetables.
#include "core/planner/timetable.hpp"

#include <gtest/gtest.h>

#include "core/planner/configurations.hpp"
#include "core/planner/linear_program.hpp"
#include "core/planner/planner.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;

// gpu0 with two copy engines and a link of its own to each other GPU, to which it sends as much.
class ThreeByTwoEngines : public testing::Test {
 protected:
  ThreeByTwoEngines() {
    if (!linear_solver()) return;
    std::vector<Request> requests;
    for (auto const* to : {"gpu1", "gpu2", "gpu3"})
      requests.push_back({.id = to,
                          .from = model_.machine().place("gpu0"),
                          .to = model_.machine().place(to),
                          .bytes = 256_MiB,
                          .only = Mechanism::Nvlink});
    set_ = transfer_set(Planner(model_).plan(requests), model_);
    alone_ = 256_MiB / set_.transfers[0].options[0].rate;
  }
  void SetUp() override {
    if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  }

  Model model_{test::machine_of({.more_gpu = "copy_engines: 2",
                                 .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 1}, "
                                            "{between: [gpu0, gpu2], part: nvlink, count: 1}, "
                                            "{between: [gpu0, gpu3], part: nvlink, count: 1}"})};
  TransferSet set_;
  Seconds alone_{0};
};

// Whole, one of three waits for an engine: 2. Where each may stop and go on later (McNaughton, Management Science 6,
// 1959), both engines work all the time: 3 / 2.
TEST_F(ThreeByTwoEngines, KeepsBothEnginesAtWork) {
  auto const timetables = ConfigurationProgram(set_, model_).solve();
  ASSERT_FALSE(timetables.empty());
  for (auto const& timetable : timetables) {
    Seconds makespan{0};
    std::vector<double> moved(3, 0.0);
    for (auto const& slice : timetable.slices) {
      makespan += slice.lasts;
      EXPECT_LE(slice.moving.size(), 2U);
      for (auto const& moving : slice.moving) moved[moving.transfer] += moving.bytes;
    }
    EXPECT_NEAR(makespan / alone_, 1.5, 1e-6);
    for (auto const bytes : moved) EXPECT_NEAR(bytes, static_cast<double>((256_MiB).value()), 1);
  }
}

// gpu0 sends four times as much to gpu1 as to the others: both engines would be through after 6 / 2, but what goes to
// gpu1 has one of them: 4. The rest fits beside it.
TEST_F(ThreeByTwoEngines, IsNoShorterThanItsLongestTransfer) {
  set_.transfers[0].bytes = 1_GiB;
  auto const trial = tried_on_time(set_, model_, Seconds(1)).trial;
  ASSERT_TRUE(trial);
  EXPECT_NEAR(trial->run.makespan / alone_, 4, 0.02);
  std::vector<Bytes> sums(3);
  for (std::size_t k = 0; k < trial->steps.size(); ++k) sums[trial->parts[k].transfer] += trial->steps[k].bytes;
  EXPECT_EQ(sums, (std::vector<Bytes>{1_GiB, 256_MiB, 256_MiB}));
}

TEST_F(ThreeByTwoEngines, RunsAsTheTimetableSays) {
  Draft whole;
  for (auto const& transfer : set_.transfers) whole.shares.push_back({static_cast<double>(transfer.bytes.value())});
  EXPECT_NEAR(tried(set_, model_, whole).run.makespan / alone_, 2, 0.01);
  auto const trial = tried_on_time(set_, model_, Seconds(1)).trial;
  ASSERT_TRUE(trial);
  EXPECT_NEAR(trial->run.makespan / alone_, 1.5, 0.01);
  Bytes sum{0};
  for (auto const& step : trial->steps) sum += step.bytes;
  EXPECT_EQ(sum, 3 * 256_MiB);
}

}  // namespace
}  // namespace lanewise
