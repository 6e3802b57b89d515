// How the guest's first process runs a command: what it prints, what it is given, and its terminal.
#include "emulator/guest/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "process/process.hpp"

namespace lanewise::emulator::guest {
namespace {

using testing::HasSubstr;

std::string all_of(Descriptor const& end, std::atomic<bool>& begun) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (ssize_t count = 0; (count = read(end.get(), chunk.data(), chunk.size())) > 0; begun = true)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  return text;
}

struct Ran {
  int exit_code = -1;
  std::string output, errors;
};

enum class Typed : std::uint8_t { AtOnce, AfterOutput };

// Runs a shell command with these control messages and this input, which is there at once or when something was
// printed.
Ran run(std::string const& command, GuestInputKind kind = GuestInputKind::None, std::string const& input = "",
        std::string const& control = "", Typed typed = Typed::AtOnce) {
  std::signal(SIGPIPE, SIG_IGN);  // as in a guest
  auto [our_output, output] = connected_pair();
  auto [our_errors, errors] = connected_pair();
  auto [our_input, input_end] = connected_pair();
  auto [our_control, control_end] = connected_pair();
  GuestConfig config;
  config.command = {"/bin/sh", "-c", command};
  config.environment = {"PATH=/usr/bin:/bin", "TERM=dumb"};
  config.working_folder = "/";
  config.input = kind;
  Ran ran;
  std::atomic<bool> begun = false;
  std::atomic<bool> errors_begun = false;
  std::thread reader([&, &ours = our_output] { ran.output = all_of(ours, begun); });
  std::thread other([&, &ours = our_errors] { ran.errors = all_of(ours, errors_begun); });
  std::thread writer([&, &ours = our_input] {
    while (typed == Typed::AfterOutput && !begun) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (std::size_t at = 0; at < input.size();) {
      auto const count = send(ours.get(), input.data() + at, input.size() - at, MSG_NOSIGNAL);
      if (count <= 0) return;
      at += static_cast<std::size_t>(count);
    }
  });
  EXPECT_EQ(write(our_control.get(), control.data(), control.size()), static_cast<ssize_t>(control.size()));
  ran.exit_code = run_command(config, {output.get(), errors.get(), input_end.get(), control_end.get()});
  output.reset();
  errors.reset();
  input_end.reset();
  reader.join();
  other.join();
  writer.join();
  return ran;
}

TEST(GuestCommand, GivesOutputErrorsAndExitCode) {
  auto const ran = run("echo out; echo err >&2; exit 3");
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.output, "out\n");
  EXPECT_EQ(ran.errors, "err\n");
  EXPECT_EQ(run("kill -TERM $$").exit_code, 128 + 15);
}

TEST(GuestCommand, HasNoInputUnlessItIsGivenOne) {
  auto const ran = run("cat; echo end", GuestInputKind::None, "not read");
  EXPECT_EQ(ran.output, "end\n");
}

TEST(GuestCommand, ReadsAllOfAPipeAndItsEnd) {
  std::string input;
  for (int i = 0; i < 100'000; ++i) input += "line " + std::to_string(i) + "\n";
  auto const ran =
      run("cat; echo end", GuestInputKind::Pipe, input, "end-of-input " + std::to_string(input.size()) + "\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output.size(), input.size() + 4);
  EXPECT_TRUE(ran.output == input + "end\n");
}

TEST(GuestCommand, ThatDoesNotReadItsInputStillEnds) {
  auto const ran = run("exec <&-; echo done", GuestInputKind::Pipe, std::string(1 << 20, 'x'), "");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output, "done\n");
}

TEST(GuestCommand, HasATerminalOfTheSizeThatItIsTold) {
  auto const ran = run("tty >/dev/null && echo terminal; while read line; do echo \"got $line\"; stty size; done",
                       GuestInputKind::Terminal, "one\n", "size 50 132\nend-of-input 4\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.output, HasSubstr("terminal\r\n"));
  EXPECT_THAT(ran.output, HasSubstr("got one\r\n"));
  EXPECT_THAT(ran.output, HasSubstr("50 132\r\n"));
  EXPECT_EQ(ran.errors, "");
}

TEST(GuestCommand, KeysOfATerminalEndWhatRunsInIt) {
  auto const ran = run("trap 'echo interrupted; exit 4' INT; echo ready; sleep 30 & wait", GuestInputKind::Terminal,
                       "\x03", "", Typed::AfterOutput);
  EXPECT_EQ(ran.exit_code, 4);
  EXPECT_THAT(ran.output, HasSubstr("interrupted"));
}

TEST(GuestCommand, OddControlMessagesChangeNothing) {
  auto const ran = run("sleep 0.2; echo fine", GuestInputKind::Pipe, "", "size\nsize x y\nnonsense\n\nend-of-input\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output, "fine\n");
}

}  // namespace
}  // namespace lanewise::emulator::guest
