#include "core/io/interrupt.hpp"

#include <atomic>
#include <csignal>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// The signal that requested a stop. Any thread may be the one that is interrupted, hence an atomic; a handler may use
// it because it is lock-free.
std::atomic<int> asked_by = 0;
static_assert(std::atomic<int>::is_always_lock_free);
int scopes = 0;
std::atomic<std::atomic<unsigned> const*> newest_work = nullptr;
std::atomic<unsigned> own_work = 0;

bool is_overtaken() {
  auto const* newest = newest_work.load();
  return newest != nullptr && *newest != own_work;
}

extern "C" void ask_to_stop(int signal) {
  asked_by = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptScope::InterruptScope() {
  if (scopes++ > 0) return;
  asked_by = 0;
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
}

InterruptScope::~InterruptScope() {
  if (--scopes > 0) return;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

OvertakenScope::OvertakenScope(std::atomic<unsigned> const& newest, unsigned own) {
  own_work = own;
  newest_work = &newest;
}

OvertakenScope::~OvertakenScope() { newest_work = nullptr; }

bool stop_requested() { return asked_by != 0; }
bool interrupted() { return stop_requested() || is_overtaken(); }

void throw_if_interrupted() {
  if (is_overtaken()) throw Interrupted("overtaken by newer work");
  if (stop_requested()) throw Interrupted(asked_by == SIGINT ? "stopped by Ctrl-C" : "stopped by a signal");
}

}  // namespace lanewise
