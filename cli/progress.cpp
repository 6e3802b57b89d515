#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "lanewise/units/text.hpp"

namespace lanewise::cli {
namespace {

constexpr std::size_t kBarWidth = 20;
constexpr std::chrono::milliseconds kRedraw{200};
constexpr char kWipe[] = "\r\033[K";

// Whole seconds and minutes: what is left is a guess.
std::string roughly(Seconds time) {
  auto const seconds = std::lround(time.value());
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{} h", (seconds + 1800) / 3600);
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(ProgressState const& state, std::size_t width) {
  if (state.all == 0) return fmt::format("{}: {} so far", state.doing, roughly(state.elapsed)).substr(0, width);
  auto const done = std::min(state.done, state.all);
  auto const filled = kBarWidth * done / state.all;
  auto text = fmt::format("[{}{}] {} of {} {}, ", std::string(filled, '#'), std::string(kBarWidth - filled, '-'), done,
                          state.all, state.unit);
  text += state.left ? roughly(*state.left) + " left" : roughly(state.elapsed) + " so far";
  if (!state.doing.empty()) text += ": " + state.doing;
  return text.substr(0, width);
}

Progress::Output Progress::standard_error() {
  return {isatty(STDERR_FILENO) != 0, terminal_width(), [](std::string const& text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

Progress::Progress(std::string unit, std::size_t all, Output output) : output_(std::move(output)) {
  state_.unit = std::move(unit);
  state_.all = all;
  try {
    teller_ = std::thread([this] { tell(); });
  } catch (std::system_error const&) {  // too little memory for a thread; the work may still fit
  }
}

Progress::Progress(std::string doing, Output output) : Progress("", 0, std::move(output)) {
  this->doing(std::move(doing));
}

Progress::~Progress() {
  {
    std::scoped_lock const lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (teller_.joinable()) teller_.join();
  wipe();
}

void Progress::doing(std::string what) {
  std::scoped_lock const lock(mutex_);
  state_.doing = std::move(what);
}

void Progress::done(std::size_t count) {
  std::scoped_lock const lock(mutex_);
  state_.done += count;
}

void Progress::at(std::size_t done, std::size_t all, std::string doing, Seconds left) {
  std::scoped_lock const lock(mutex_);
  state_.done = done;
  state_.all = all;
  state_.doing = std::move(doing);
  state_.left = left;
}

void Progress::at(WorkProgress const& now) {
  auto const time = Clock::now();
  std::scoped_lock const lock(mutex_);
  if (state_.doing != now.doing || now.done < state_.done) began_this_ = time;
  state_.doing = now.doing;
  state_.unit = now.unit;
  state_.done = now.done;
  state_.all = now.all;
  state_.left.reset();
  if (now.done == 0) return;
  auto const each = std::chrono::duration<double>(time - began_this_).count() / static_cast<double>(now.done);
  state_.left = Seconds(each * static_cast<double>(now.all - std::min(now.done, now.all)));
}

void Progress::say(std::string const& text) {
  std::scoped_lock const lock(mutex_);
  wipe();
  output_.write(text + "\n");
}

void Progress::wipe() {
  if (shown_) output_.write(kWipe);
  shown_ = false;
}

ProgressState Progress::state_at(Clock::time_point now) const {
  auto state = state_;
  state.elapsed = Seconds(std::chrono::duration<double>(now - began_).count());
  if (!state.left && state.done > 0)
    state.left = state.elapsed *
                 (static_cast<double>(state.all - std::min(state.done, state.all)) / static_cast<double>(state.done));
  return state;
}

void Progress::tell() {
  std::unique_lock lock(mutex_);
  auto after = output_.first;
  while (!changed_.wait_until(lock, began_ + after, [this] { return ended_; })) {
    auto const state = state_at(Clock::now());
    if (output_.is_terminal) {
      output_.write(kWipe + progress_line(state, output_.width - 1));
      shown_ = true;
      after += kRedraw;
    } else {
      output_.write(progress_line(state, std::string::npos) + "\n");
      after *= 2;
    }
  }
}

ProgressScope listen(std::optional<Progress>& progress) {
  return ProgressScope([&progress](WorkProgress const& now) {
    if (progress) progress->at(now);
  });
}

}  // namespace lanewise::cli
