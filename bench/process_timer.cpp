// Times a whole program: process_timer RUNS PROGRAM ARGUMENTS...
// Prints "wall_ms cpu_ms peak_rss_mib": the medians of wall-clock time and processor time, and the largest peak of
// resident memory. The program's output is thrown away. Fails when the program does.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): only some C libraries declare it

namespace {

struct Run {
  double wall_ms = 0;
  double cpu_ms = 0;
  double peak_rss_mib = 0;
  bool fine = false;
};

double milliseconds(timeval const& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
}

Run run_once(char** arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  auto const begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  int const failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return {};
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return {};
  std::chrono::duration<double, std::milli> const wall = std::chrono::steady_clock::now() - begin;
  return {wall.count(), milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

double median(std::vector<Run> const& runs, double Run::*figure) {
  std::vector<double> values;
  for (auto const& run : runs) values.push_back(run.*figure);
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  int const count = argc > 2 ? std::atoi(argv[1]) : 0;
  if (count < 1) {
    std::fprintf(stderr, "usage: process_timer RUNS PROGRAM ARGUMENTS...\n");
    return 2;
  }
  static_cast<void>(run_once(argv + 2));  // brings the program and its files into memory
  std::vector<Run> runs;
  double peak = 0;
  for (int i = 0; i < count; ++i) {
    runs.push_back(run_once(argv + 2));
    if (!runs.back().fine) {
      std::fprintf(stderr, "process_timer: '%s' failed\n", argv[2]);
      return 1;
    }
    peak = std::max(peak, runs.back().peak_rss_mib);
  }
  std::printf("%.3f %.3f %.2f\n", median(runs, &Run::wall_ms), median(runs, &Run::cpu_ms), peak);
}
