#include "emulator/termination_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace lanewise::emulator {

TerminationSignals::TerminationSignals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (auto const signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, signal);
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = Descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

TerminationSignals::~TerminationSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int TerminationSignals::take() const {
  signalfd_siginfo info{};
  return read(descriptor_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace lanewise::emulator
