#pragma once
// Runs a scenario on its machines in all its variants and holds it to its expectations.
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "core/planner/bounds/lower_bound.hpp"
#include "core/scenario/scenario.hpp"
#include "core/verdict/regret.hpp"

namespace lanewise {

// Every way of one transfer, and the one chosen; absent where nothing is legal.
struct Weighed {
  std::vector<Candidate> candidates;
  std::optional<std::size_t> chosen;
};

// One variant on one machine.
struct VariantRun {
  std::string machine;
  std::string variant;
  Plan plan;
  Trace trace;
  std::vector<Regret> regrets;
  std::optional<LowerBound> bound;                    // what no plan of these transfers beats
  std::vector<std::vector<std::string>> route_words;  // a transfer: names and kinds of what its route passes
  std::vector<Weighed> weighed;                       // a transfer: every way, also where nothing is legal
  std::string failure;                                // why there was nothing to run; empty: it ran
  bool failure_expected = false;                      // an expectation says that nothing is possible here
  std::string skipped;                                // why it is no run of this mode; empty: it is one
  std::string untimed;                                // why its times are reported and not judged; empty: they are
  [[nodiscard]] bool ran() const { return failure.empty() && skipped.empty(); }
};

// One expectation where it applies.
struct ExpectationResult {
  std::string machine;
  std::string variant;
  std::string what;  // "there: mechanism pcie_p2p"
  bool passed = false;
  std::string found;  // what was found instead, or the figure that passed
  SourcePos pos;
  std::string untimed = {};  // why the figure is reported and not judged; empty: it is judged
  [[nodiscard]] bool judged() const { return untimed.empty(); }
  [[nodiscard]] bool failed() const { return judged() && !passed; }
};

struct ScenarioVerdict {
  std::string scenario;
  std::string title;
  std::string mode;
  std::vector<VariantRun> runs;
  std::vector<ExpectationResult> results;
  [[nodiscard]] bool passed() const;
};

// In a trace's environment: what its nodes were, where they were started for the run.
inline constexpr char kNodesKey[] = "nodes";

// A trace and its regrets, wherever they were made.
struct RanPlan {
  Trace trace;
  std::vector<Regret> regrets;
};

// What a check needs from outside: machines by name, and an executor for a model.
struct CheckWorld {
  std::function<Machine(std::string const& name)> machine;
  MakeExecutor executor;
  Catalogue& catalogue;
  std::string mode;
  std::optional<Objective> objective = {};  // instead of the scenarios' own
  Effort effort = Effort::Full;
  bool real = false;  // on hardware, which settings do not change: their variants are skipped
  // Where runs are taken from instead of the executor; nullopt: from the executor after all. Throws PlanError when
  // there is none.
  std::function<std::optional<RanPlan>(std::string const& scenario, std::string const& variant, Plan const&)> recorded =
      {};
};

// Throws InputError when the scenario does not fit its machines; a variant without a legal way is a failed result.
ScenarioVerdict check_scenario(Scenario const& scenario, CheckWorld const& world);

// The table of all verdicts, then every failure with its reason.
std::string verdict_text(std::vector<ScenarioVerdict> const& verdicts);
// `lanewise: verdict/1`
nlohmann::ordered_json verdict_json(std::vector<ScenarioVerdict> const& verdicts);

}  // namespace lanewise
