#include "cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>

namespace lanewise::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// What a Progress has written, and waiting for it.
class Written {
 public:
  Progress::Output output(bool is_terminal, int first_ms) {
    return {is_terminal, 40, [this](std::string const& text) { add(text); }, std::chrono::milliseconds(first_ms)};
  }
  // Waits, at most ten seconds, until this stands in it.
  bool holds(std::string const& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return text_.find(what) != std::string::npos; });
  }
  std::string text() {
    std::scoped_lock const lock(mutex_);
    return text_;
  }

 private:
  void add(std::string const& text) {
    {
      std::scoped_lock const lock(mutex_);
      text_ += text;
    }
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

TEST(ProgressLine, SaysHowFarAndHowLong) {
  EXPECT_EQ(progress_line({"runs", 5, 20, "ring on hgx", Seconds(4), Seconds(12)}, 80),
            "[#####---------------] 5 of 20 runs, 12 s left: ring on hgx");
  EXPECT_EQ(progress_line({"runs", 0, 20, "", Seconds(4), {}}, 80), "[--------------------] 0 of 20 runs, 4 s so far");
  EXPECT_EQ(progress_line({"runs", 20, 20, "", Seconds(4), Seconds(7300)}, 80),
            "[####################] 20 of 20 runs, 2 h left");
  EXPECT_EQ(progress_line({"", 0, 0, "planning a.yaml", Seconds(130), {}}, 80), "planning a.yaml: 2 min so far");
  EXPECT_EQ(progress_line({"runs", 5, 20, "ring on hgx", Seconds(4), Seconds(12)}, 10), "[#####----");
}

TEST(Progress, ShowsWhatTheWorkOfThisThreadReports) {
  Written written;
  std::optional<Progress> progress(std::in_place, "planning a.yaml", written.output(false, 1));
  auto const listening = listen(progress);
  report_progress({"simulating", "steps", 0, 40});
  EXPECT_TRUE(written.holds("0 of 40 steps"));
  report_progress({"simulating", "steps", 10, 40});
  EXPECT_TRUE(written.holds("10 of 40 steps"));
  EXPECT_TRUE(written.holds("left: simulating"));
  progress.reset();
  report_progress({"simulating", "steps", 20, 40});  // nobody shows it any more
}

TEST(Progress, SaysNothingOfWhatIsQuick) {
  Written written;
  {
    Progress progress("runs", 2, written.output(true, 60'000));
    progress.done(2);
  }
  EXPECT_EQ(written.text(), "");
}

TEST(Progress, OverwritesItsLineOnATerminalAndWipesItAway) {
  Written written;
  {
    Progress progress("runs", 4, written.output(true, 1));
    progress.done();
    ASSERT_TRUE(written.holds("1 of 4 runs"));
    progress.done(2);
    ASSERT_TRUE(written.holds("3 of 4 runs"));
    progress.say("a warning");
  }
  EXPECT_THAT(written.text(), StartsWith("\r\033[K["));
  EXPECT_THAT(written.text(), HasSubstr("\r\033[Ka warning\n"));
  EXPECT_THAT(written.text(), testing::Not(HasSubstr("runs\n")));
}

TEST(Progress, WritesLinesElsewhere) {
  Written written;
  {
    Progress progress("runs", 4, written.output(false, 1));
    progress.doing("ring");
    ASSERT_TRUE(written.holds("0 of 4 runs"));
    ASSERT_TRUE(written.holds(": ring\n"));
  }
  EXPECT_THAT(written.text(), testing::Not(HasSubstr("\r")));
}

TEST(Progress, TellsHowLongWorkThatCannotBeCountedHasTaken) {
  Written written;
  Progress const progress("planning", written.output(false, 1));
  EXPECT_TRUE(written.holds("planning: 0 s so far\n"));
}

}  // namespace
}  // namespace lanewise::cli
