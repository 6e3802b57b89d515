#include "process/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

template <class Result>
Result check(Result result, std::string_view what) {
  if (result < 0) throw Error(fmt::format("{}: {}", what, std::strerror(errno)));
  return result;
}

constexpr int kNoSuchProgram = 127;

// Runs in the child between fork and exec, so it makes only async-signal-safe calls.
[[noreturn]] void become(char* const* words, std::vector<std::pair<int, int>> const& inherited, int output, int errors,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNoSuchProgram);  // the parent ended before prctl took effect
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  auto const empty = open("/dev/null", O_RDONLY);
  dup2(empty, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  // Copies all descriptors to high numbers first: a wanted number may be that of a descriptor not yet copied.
  constexpr int kFirstSpareNumber = 500;
  constexpr std::size_t kMaxInherited = 128;
  std::array<int, kMaxInherited> moved{};
  if (inherited.size() > kMaxInherited) _exit(kNoSuchProgram);
  for (std::size_t i = 0; i < inherited.size(); ++i)
    moved[i] = fcntl(inherited[i].first, F_DUPFD_CLOEXEC, kFirstSpareNumber);              // NOLINT: at() may throw
  for (std::size_t i = 0; i < inherited.size(); ++i) dup2(moved[i], inherited[i].second);  // NOLINT
  execvp(words[0], words);
  _exit(kNoSuchProgram);
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (number_ >= 0) close(std::exchange(number_, -1));
}

std::pair<Descriptor, Descriptor> connected_pair() {
  std::array<int, 2> ends{};
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor memory_file(std::string_view content) {
  Descriptor file(check(memfd_create("lanewise", MFD_CLOEXEC), "memfd_create"));
  while (!content.empty())
    content.remove_prefix(static_cast<std::size_t>(check(write(file.get(), content.data(), content.size()), "memfd")));
  check(lseek(file.get(), 0, SEEK_SET), "memfd");
  return file;
}

Child::Child(std::vector<std::string> const& words, std::vector<std::pair<int, int>> const& inherited, int output,
             int errors) {
  auto copies = words;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (auto& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  auto const parent = getpid();
  auto const child = check(fork(), "fork");
  if (child == 0) become(pointers.data(), inherited, output, errors, parent);
  pid_ = child;
}

Child::~Child() { kill(); }

void Child::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(std::exchange(pid_, -1), nullptr, 0);
}

std::optional<int> Child::wait() {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return status;
}

std::optional<int> Child::wait(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kPause{10};
  for (auto const end = Clock::now() + limit;; usleep(std::chrono::microseconds(kPause).count())) {
    if (auto const status = wait()) return status;
    if (Clock::now() >= end) return std::nullopt;
  }
}

Outcome run_program(std::vector<std::string> const& words, std::chrono::milliseconds limit,
                    std::vector<std::pair<int, int>> const& inherited) {
  if (!find_program(words.front())) throw MissingError(fmt::format("there is no program '{}'", words.front()));
  auto [here, there] = connected_pair();
  Child child(words, inherited, there.get(), there.get());
  there.reset();
  Outcome outcome;
  auto const end = Clock::now() + limit;
  while (true) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{here.get(), POLLIN, 0};
    outcome.in_time = left > 0;
    if (!outcome.in_time) break;
    auto const ready = poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    std::array<char, 65536> chunk{};
    auto const count = read(here.get(), chunk.data(), chunk.size());
    if (count <= 0) break;
    outcome.output.append(chunk.data(), static_cast<std::size_t>(count));
  }
  // The program has closed its output. It gets two seconds to end before it is killed.
  constexpr std::chrono::seconds kGrace{2};
  if (outcome.in_time)
    if (auto const status = child.wait(kGrace)) outcome.code = exit_code(*status);
  return outcome;
}

std::optional<fs::path> find_program(std::string const& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  auto const* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "";
  // Daemons such as sshd are in folders that an ordinary user's PATH leaves out.
  if (!folders.empty()) folders += ":/usr/sbin:/sbin";
  for (std::size_t at = 0; at < folders.size();) {
    auto const next = std::min(folders.find(':', at), folders.size());
    auto const file = fs::path(folders.substr(at, next - at)) / name;
    if (access(file.c_str(), X_OK) == 0) return file;
    at = next + 1;
  }
  return std::nullopt;
}

}  // namespace lanewise
