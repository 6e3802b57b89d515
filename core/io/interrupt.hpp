#pragma once
// Long work that is not wanted any more: by Ctrl-C, or because newer work overtakes it. It polls at points where it can
// stop cleanly.
#include <atomic>

namespace lanewise {

// While it lives, SIGINT and SIGTERM only request a stop; a second signal ends the program at once. A scope within
// another changes nothing. Scopes belong to the program's first thread.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(InterruptScope const&) = delete;
  InterruptScope& operator=(InterruptScope const&) = delete;
};

// One piece of work of a program that does only the newest: overtaken once `newest` is not `own` any more. One at a
// time, for all threads.
class OvertakenScope {
 public:
  OvertakenScope(std::atomic<unsigned> const& newest, unsigned own);
  ~OvertakenScope();
  OvertakenScope(OvertakenScope const&) = delete;
  OvertakenScope& operator=(OvertakenScope const&) = delete;
};

// Whether the user wants the program to stop.
bool stop_requested();
// The same, or the work under way is overtaken.
bool interrupted();
// Throws Interrupted when interrupted().
void throw_if_interrupted();

}  // namespace lanewise
