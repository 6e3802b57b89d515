#include "emulator/guest/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "emulator/guest/system.hpp"

namespace lanewise::emulator::guest {
namespace {

struct Pipe {
  int read_end, write_end;
};
Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC), "pipe");
  return {ends[0], ends[1]};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> found;
  found.reserve(words.size() + 1);
  for (auto& word : words) found.push_back(word.data());
  found.push_back(nullptr);
  return found;
}

// What a command has for standard input, output and errors.
struct Ends {
  int input, output, errors;
  bool is_terminal;
};

[[noreturn]] void become(GuestConfig config, Ends ends) {
  setsid();
  std::signal(SIGPIPE, SIG_DFL);
  if (ends.is_terminal) ioctl(ends.input, TIOCSCTTY, 0);
  dup2(ends.input, STDIN_FILENO);
  dup2(ends.output, STDOUT_FILENO);
  dup2(ends.errors, STDERR_FILENO);
  auto const say = [](std::string const& text) { write_all(STDERR_FILENO, "lanewise emulate: " + text + "\n"); };
  if (chdir(config.working_folder.c_str()) != 0)
    say(config.working_folder + " is not in the guest: " + std::strerror(errno));
  clearenv();
  for (auto& variable : config.environment) putenv(variable.data());
  auto const arguments = pointers(config.command);
  execvp(arguments[0], arguments.data());
  say(config.command[0] + ": " + std::strerror(errno));
  constexpr int kNoSuchProgram = 127;
  _exit(kNoSuchProgram);
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// A command while it runs, and what goes to it and comes from it.
class CommandRun {
 public:
  CommandRun(GuestConfig const& config, CommandLines const& lines) : config_(config), lines_(lines) {}
  CommandRun(CommandRun const&) = delete;
  CommandRun& operator=(CommandRun const&) = delete;
  ~CommandRun() {
    for (auto const end : {out_, err_, in_})
      if (end >= 0) close(end);
  }

  int run() {
    start();
    // Background processes of the command may hold the pipes open for ever. So once the command has ended, only what is
    // already in them is passed on.
    while (pass_on() || !ended_) reap();
    return exit_code(status_);
  }

 private:
  void start() {
    auto const ends = config_.input == GuestInputKind::Terminal ? open_terminal() : open_pipes();
    child_ = check(fork(), "fork");
    if (child_ == 0) become(config_, ends);
    close(ends.input);
    if (!ends.is_terminal) close(ends.output);
    if (!ends.is_terminal) close(ends.errors);
    for (auto const end : {out_, err_, in_})
      if (end >= 0) fcntl(end, F_SETFL, O_NONBLOCK);
  }

  Ends open_pipes() {
    auto const out = make_pipe();
    auto const err = make_pipe();
    out_ = out.read_end;
    err_ = err.read_end;
    if (config_.input == GuestInputKind::None)
      return {check(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null"), out.write_end, err.write_end, false};
    auto const in = make_pipe();
    in_ = in.write_end;
    return {in.read_end, out.write_end, err.write_end, false};
  }

  Ends open_terminal() {
    out_ = check(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "posix_openpt");
    check(grantpt(out_), "grantpt");
    check(unlockpt(out_), "unlockpt");
    std::array<char, 64> name{};
    if (ptsname_r(out_, name.data(), name.size()) != 0) fail("ptsname");
    auto const terminal = check(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC), name.data());
    in_ = fcntl(out_, F_DUPFD_CLOEXEC, 0);
    resize(config_.rows, config_.columns);
    return {terminal, terminal, terminal, true};
  }

  void resize(int rows, int columns) const {
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    ioctl(out_, TIOCSWINSZ, &size);
  }

  // Waits a moment for something to pass on, and passes it on. False when there was nothing.
  bool pass_on() {
    constexpr int kPollInterval = 20;  // ms
    bool const has_input = config_.input != GuestInputKind::None && !ended_;
    std::array<pollfd, 5> ends{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0},
                               pollfd{waiting_.empty() ? -1 : in_, POLLOUT, 0},
                               pollfd{has_input && waiting_.empty() ? lines_.input : -1, POLLIN, 0},
                               pollfd{has_input ? lines_.control : -1, POLLIN, 0}};
    if (poll(ends.data(), ends.size(), ended_ ? 0 : kPollInterval) <= 0) return false;
    bool passed = false;
    if (ends[0].revents != 0) passed |= forward(out_, lines_.output);
    if (ends[1].revents != 0) passed |= forward(err_, lines_.errors);
    if (ends[2].revents != 0) give_input();
    if ((ends[3].revents & POLLIN) != 0) take_input();
    if ((ends[4].revents & POLLIN) != 0) take_control();
    end_input();
    return passed;
  }

  // Passes on what a pipe or the terminal has; closes it at its end. False when there was nothing.
  static bool forward(int& from, int to) {
    std::array<char, 65536> chunk{};
    auto const count = read(from, chunk.data(), chunk.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (count <= 0) {  // a terminal that nobody has open any more gives EIO
      close(from);
      from = -1;
      return false;
    }
    write_all(to, {chunk.data(), static_cast<std::size_t>(count)});
    return true;
  }

  void take_input() {
    std::array<char, 4096> chunk{};
    auto const count = read(lines_.input, chunk.data(), chunk.size());
    if (count <= 0) return;
    waiting_.append(chunk.data(), static_cast<std::size_t>(count));
    taken_ += static_cast<std::uint64_t>(count);
    give_input();
  }

  void give_input() {
    auto const count = in_ < 0 ? -1 : write(in_, waiting_.data(), waiting_.size());
    if (count > 0) waiting_.erase(0, static_cast<std::size_t>(count));
    if (count >= 0 || (in_ >= 0 && (errno == EAGAIN || errno == EINTR))) return;
    waiting_.clear();  // the command does not read any more
    close_input();
  }

  // "size ROWS COLUMNS", "end-of-input BYTES": the command's input ends after so many bytes.
  void take_control() {
    std::array<char, 256> chunk{};
    auto const count = read(lines_.control, chunk.data(), chunk.size());
    if (count <= 0) return;
    control_.append(chunk.data(), static_cast<std::size_t>(count));
    for (auto at = control_.find('\n'); at != std::string::npos; at = control_.find('\n')) {
      std::istringstream line(control_.substr(0, at));
      control_.erase(0, at + 1);
      std::string word;
      std::uint64_t first = 0;
      std::uint64_t second = 0;
      line >> word >> first >> second;
      if (word == "size" && out_ >= 0) resize(static_cast<int>(first), static_cast<int>(second));
      if (word == "end-of-input") input_ends_at_ = first;
    }
  }

  void end_input() {
    if (!input_ends_at_ || taken_ < *input_ends_at_ || !waiting_.empty() || in_ < 0) return;
    constexpr char kEndOfFile = 4;  // Ctrl-D
    if (config_.input == GuestInputKind::Terminal && write(in_, &kEndOfFile, 1) < 0 && errno == EAGAIN) return;
    close_input();
  }

  void close_input() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }

  void reap() {
    // As the first process of the system it also inherits orphans.
    int other = 0;
    for (pid_t gone = 0; (gone = waitpid(-1, &other, WNOHANG)) > 0;) {
      if (gone != child_) continue;
      ended_ = true;
      status_ = other;
    }
  }

  GuestConfig const& config_;
  CommandLines const& lines_;
  pid_t child_ = -1;
  int out_ = -1, err_ = -1, in_ = -1;  // this process's ends; of a terminal, `in_` and `out_` are the same
  std::string waiting_, control_;      // input that the command has not taken; a line that is not whole
  std::uint64_t taken_ = 0;            // bytes of input so far
  std::optional<std::uint64_t> input_ends_at_;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace

int run_command(GuestConfig const& config, CommandLines const& lines) { return CommandRun(config, lines).run(); }

int run_shell(std::string const& command) {
  auto const child = check(fork(), "fork");
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  check(waitpid(child, &status, 0), "waitpid");
  return exit_code(status);
}

}  // namespace lanewise::emulator::guest
