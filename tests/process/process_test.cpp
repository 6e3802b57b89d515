#include "process/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using namespace std::chrono_literals;

TEST(RunProgram, GivesOutputAndExitCode) {
  auto const outcome = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, 20s);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output, "out\nerr\n");
  EXPECT_TRUE(outcome.in_time);
  EXPECT_EQ(run_program({"sh", "-c", "kill -TERM $$"}, 20s).code, 128 + SIGTERM);
}

TEST(RunProgram, EndsWhatTakesTooLong) {
  auto const outcome = run_program({"sh", "-c", "echo begun; exec sleep 600"}, 300ms);
  EXPECT_FALSE(outcome.in_time);
  EXPECT_EQ(outcome.output, "begun\n");
}

TEST(RunProgram, AMissingProgramIsNamed) {
  EXPECT_THROW(run_program({"no-such-program-here"}, 1s), MissingError);
  EXPECT_FALSE(find_program("no-such-program-here"));
  EXPECT_TRUE(find_program("sh"));
}

// The numbers wanted may be those that others have.
TEST(Child, InheritsDescriptorsUnderTheNumbersWanted) {
  auto const first = memory_file("first ");
  auto const second = memory_file("second");
  auto const outcome = run_program({"sh", "-c", "cat <&4; cat <&3"}, 20s, {{second.get(), 3}, {first.get(), 4}});
  EXPECT_EQ(outcome.output, "first second");
}

TEST(Child, IsKilledWithItsOwner) {
  pid_t watched = 0;
  auto [here, there] = connected_pair();
  {
    Child child({"sh", "-c", "echo $$; exec sleep 600"}, {}, there.get(), there.get());
    std::array<char, 32> text{};
    ASSERT_GT(read(here.get(), text.data(), text.size() - 1), 0);
    watched = static_cast<pid_t>(std::atoi(text.data()));
    EXPECT_EQ(::kill(watched, 0), 0);
  }
  EXPECT_NE(::kill(watched, 0), 0);
}

// Even when its owner has no time for a destructor.
TEST(Child, DiesWhenItsOwnerIsKilled) {
  auto [here, there] = connected_pair();
  auto const owner = fork();
  if (owner == 0) {
    Child const child({"sh", "-c", "echo $$; exec sleep 600"}, {}, there.get(), there.get());
    pause();
    _exit(0);
  }
  there.reset();
  std::array<char, 32> text{};
  ASSERT_GT(read(here.get(), text.data(), text.size() - 1), 0);
  ::kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  // The grandchild held the other end; its end is the end of the stream.
  EXPECT_EQ(read(here.get(), text.data(), text.size()), 0);
}

}  // namespace
}  // namespace lanewise
