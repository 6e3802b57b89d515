#pragma once
#include <csignal>

#include "process/process.hpp"

namespace lanewise::emulator {

// Blocks the signals that ask this process to end (SIGINT, SIGTERM, SIGHUP) for its lifetime and makes them readable
// from a descriptor, so that the guests can be ended first.
class TerminationSignals {
 public:
  TerminationSignals();
  TerminationSignals(TerminationSignals const&) = delete;
  TerminationSignals& operator=(TerminationSignals const&) = delete;
  ~TerminationSignals();
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // The number of a signal that has arrived; 0 when there is none.
  [[nodiscard]] int take() const;

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

}  // namespace lanewise::emulator
