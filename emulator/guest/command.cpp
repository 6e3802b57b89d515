#include "emulator/guest/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

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

[[noreturn]] void become(GuestConfig config, int output, int errors) {
  setsid();
  std::signal(SIGPIPE, SIG_DFL);
  auto const nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
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

// Passes on what is in the pipe. False at its end.
bool pass_on(int from, int to) {
  std::array<char, 65536> chunk{};
  auto const count = read(from, chunk.data(), chunk.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  write_all(to, {chunk.data(), static_cast<std::size_t>(count)});
  return true;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

int run_command(GuestConfig const& config, int output, int errors) {
  auto const out = make_pipe();
  auto const err = make_pipe();
  auto const child = check(fork(), "fork");
  if (child == 0) become(config, out.write_end, err.write_end);
  close(out.write_end);
  close(err.write_end);
  for (auto const end : {out.read_end, err.read_end}) fcntl(end, F_SETFL, O_NONBLOCK);
  std::array<pollfd, 2> ends{pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0}};
  std::array<int, 2> const to{output, errors};
  int status = 0;
  bool ended = false;
  while (true) {
    // Background processes of the command may hold the pipes open for ever. So once the command has ended, only what is
    // already in the pipes is passed on.
    constexpr int kPollInterval = 20;  // ms
    auto const ready = poll(ends.data(), ends.size(), ended ? 0 : kPollInterval);
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (ready > 0 && ends.at(i).revents != 0 && !pass_on(ends.at(i).fd, to.at(i))) ends.at(i).fd = -1;
    if (ended && ready <= 0) break;
    // As the first process of the system it also inherits orphans.
    int other = 0;
    for (pid_t gone = 0; (gone = waitpid(-1, &other, WNOHANG)) > 0;) {
      if (gone != child) continue;
      ended = true;
      status = other;
    }
  }
  close(out.read_end);
  close(err.read_end);
  return exit_code(status);
}

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
