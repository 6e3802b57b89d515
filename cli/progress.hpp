#pragma once
// Says on standard error how far a command is, once it has taken two seconds: on a terminal in one line that is
// overwritten, with a bar and the time left; elsewhere in lines, each after twice the time of the one before.
//
//   Progress progress("scenarios", scenarios.size());
//   for (auto const& scenario : scenarios) {
//     progress.doing(scenario.name);
//     ...
//     progress.done();
//   }
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/io/work_progress.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::cli {

// One moment of a command's work.
struct ProgressState {
  std::string unit;  // what is counted: "scenarios"
  std::size_t done = 0;
  std::size_t all = 0;          // 0: the work cannot be counted
  std::string doing;            // what is under way
  Seconds elapsed{0};           // since the beginning
  std::optional<Seconds> left;  // absent: unknown yet
};

// "[#####---------------] 5 of 20 scenarios, 12.0 s left: ring-of-8"; cut to `width` characters.
std::string progress_line(ProgressState const& state, std::size_t width);

class Progress {
 public:
  struct Output {
    bool is_terminal = false;
    std::size_t width = 80;  // of the terminal, in characters
    std::function<void(std::string const&)> write;
    std::chrono::milliseconds first{2000};  // until anything is said
  };
  static Output standard_error();

  Progress(std::string unit, std::size_t all, Output output = standard_error());
  // Of one piece of work that cannot be counted: only says for how long it has been doing it.
  explicit Progress(std::string doing, Output output = standard_error());
  // Wipes its line away.
  ~Progress();
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;

  void doing(std::string what);
  void done(std::size_t count = 1);
  // For work that knows better how far it is, and how long it still takes.
  void at(std::size_t done, std::size_t all, std::string doing, Seconds left);
  // For work that reports how far it is (core/io/work_progress.hpp); the time left is that of what is under way.
  void at(WorkProgress const& now);
  // Writes a line of its own, above the line of a terminal.
  void say(std::string const& text);

 private:
  using Clock = std::chrono::steady_clock;
  void tell();  // what the thread does
  void wipe();
  [[nodiscard]] ProgressState state_at(Clock::time_point now) const;

  Output output_;
  Clock::time_point began_ = Clock::now();
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  ProgressState state_;
  Clock::time_point began_this_;  // what the last report was of
  bool ended_ = false;
  bool shown_ = false;  // the terminal's line holds something
  std::thread teller_;
};

// Shows what this thread's work reports, for as long as `progress` holds something.
ProgressScope listen(std::optional<Progress>& progress);

}  // namespace lanewise::cli
