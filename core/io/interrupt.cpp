#include "core/io/interrupt.hpp"

#include <csignal>

#include "core/io/error.hpp"

namespace lanewise {
namespace {

std::sig_atomic_t volatile asked_by = 0;  // the signal that requested a stop

extern "C" void ask_to_stop(int signal) {
  asked_by = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptScope::InterruptScope() {
  asked_by = 0;
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
}

InterruptScope::~InterruptScope() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool interrupted() { return asked_by != 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Interrupted(asked_by == SIGINT ? "stopped by Ctrl-C" : "stopped by a signal");
}

}  // namespace lanewise
