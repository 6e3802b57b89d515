#pragma once
// Ctrl-C while something long runs: asked for at places where everything can be given back.

namespace lanewise {

// From now until the end of its life SIGINT and SIGTERM only ask to stop; a second one ends the program at once.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(InterruptScope const&) = delete;
  InterruptScope& operator=(InterruptScope const&) = delete;
};

// Whether one came.
bool interrupted();
// Throws Interrupted when one came.
void throw_if_interrupted();

}  // namespace lanewise
