#pragma once
// How far long work is. Planning and simulation report; a command that shows it listens.
//
//   ProgressScope const listening([](WorkProgress const& now) { ... });
//   auto const plan = planner.plan();
#include <cstddef>
#include <functional>
#include <string_view>

namespace lanewise {

struct WorkProgress {
  std::string_view doing;  // "simulating"; a literal
  std::string_view unit;   // what is counted: "steps"; a literal
  std::size_t done = 0;
  std::size_t all = 0;
};

// While it lives, what this thread does is reported to `listener`. A scope within another replaces it for its own life.
class ProgressScope {
 public:
  using Listener = std::function<void(WorkProgress const&)>;
  explicit ProgressScope(Listener listener);
  ~ProgressScope();
  ProgressScope(ProgressScope const&) = delete;
  ProgressScope& operator=(ProgressScope const&) = delete;

 private:
  Listener listener_;
  Listener const* outer_;
};

// Tells the listener of this thread, if there is one.
void report_progress(WorkProgress const& now);

}  // namespace lanewise
