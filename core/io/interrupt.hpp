#pragma once
// Ctrl-C during long work. The work polls for it at points where it can stop cleanly.

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

// Whether a stop was requested.
bool interrupted();
// Throws Interrupted when a stop was requested.
void throw_if_interrupted();

}  // namespace lanewise
