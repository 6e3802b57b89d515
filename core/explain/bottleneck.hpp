#pragma once
// Why a run took as long as it did: the chain of steps that ended last, what each of them waited for, and what was full
// when.
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/trace.hpp"

namespace lanewise {

enum class WaitedFor : std::uint8_t {
  Nothing,  // it could begin at once
  Step,     // one that had to be through
  Turn,     // one that went first for the sake of order
  Engine,   // one that held an engine
};
std::string_view to_string(WaitedFor waited);

// One step of the critical path: none of those before it on the path could end later without the run doing so.
struct PathStep {
  StepId step{};
  WaitedFor waited = WaitedFor::Nothing;
  std::string engine = {};  // that it waited for
  Seconds start{0};
  Seconds end{0};
  Seconds alone{0};         // what it takes on an idle machine
  std::string shared = {};  // what it passed that was fullest, where it took longer than alone
  friend bool operator==(PathStep const&, PathStep const&) = default;
};

// From the first step to the one that ended last.
std::vector<PathStep> critical_path(Plan const& plan, Trace const& trace, Model const& model);

// A stretch of a run in which resources of one kind were the busiest.
struct Phase {
  Seconds start{0};
  Seconds end{0};
  std::string busiest;               // the fullest of them; empty: nothing moved
  std::optional<ResourceKind> kind;  // its kind
  double utilisation = 0;            // of it, 0..1
  double computing = 0;              // GPUs that computed, on average
  BytesPerSecond rate{0};            // of everything that moved
  friend bool operator==(Phase const&, Phase const&) = default;
};

// By twentieths of the run. A step is taken to flow at its mean rate from when its latency is over: a trace says no
// more.
std::vector<Phase> phases_of(Plan const& plan, Trace const& trace, Model const& model);

}  // namespace lanewise
