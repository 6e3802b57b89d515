#pragma once
// Why a run took as long as it did: its critical path, what each step on the path waited for, and which resources were
// busiest when.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

enum class WaitedFor : std::uint8_t {
  Nothing,  // it started at once
  Step,     // a step whose data it needs
  Turn,     // an order-only dependency
  Engine,   // a step that held an engine
};
std::string_view to_string(WaitedFor waited);

// One step of the critical path. If a step of the path ended later, the run would end later.
struct PathStep {
  StepId step{};
  WaitedFor waited = WaitedFor::Nothing;
  std::string engine = {};  // the engine that it waited for
  Seconds start{0};
  Seconds end{0};
  Seconds alone{0};         // its time on an idle machine
  std::string shared = {};  // if it took longer than alone: the busiest resource on its route
  friend bool operator==(PathStep const&, PathStep const&) = default;
};

// The steps in order of time; the last one ended last.
std::vector<PathStep> critical_path(Plan const& plan, Trace const& trace, Model const& model);

// An interval of a run during which resources of one kind were the busiest.
struct Phase {
  Seconds start{0};
  Seconds end{0};
  std::string busiest;               // the busiest of them; empty: nothing moved
  std::optional<ResourceKind> kind;  // its kind
  double utilisation = 0;            // of the busiest resource, 0..1
  double computing = 0;              // average number of GPUs that computed
  BytesPerSecond rate{0};            // of everything that moved
  friend bool operator==(Phase const&, Phase const&) = default;
};

// Divides the run into twentieths and merges neighbours of the same kind. Assumes that a step flows at its mean rate
// once its latency is over, because a trace does not say more.
std::vector<Phase> phases_of(Plan const& plan, Trace const& trace, Model const& model);

}  // namespace lanewise
