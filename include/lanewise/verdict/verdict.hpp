#pragma once
// The outcome of a scenario: what ran in each variant on each machine, and which expectations hold.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/verdict/regret.hpp"

namespace lanewise {

// Key in a trace's environment: the nodes that were started for the run.
inline constexpr char kNodesEnvironmentKey[] = "nodes";

// Every way of one transfer, and the index of the chosen one; absent if no way is legal.
struct EvaluatedTransfer {
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
  std::optional<LowerBound> bound;                    // no plan of these transfers is faster
  std::vector<std::vector<std::string>> route_words;  // of each transfer: names and kinds of the hops on its route
  std::vector<EvaluatedTransfer> evaluated;           // of each transfer, also where no way is legal
  std::string failure;                                // why nothing ran; empty: it ran
  bool failure_expected = false;                      // an expectation says that nothing is possible here
  std::string skipped;                                // why this mode does not run it; empty: it does
  std::string timing_exclusion;  // why its times are reported but not judged; empty: they are judged
  Seconds real_time{0};          // that planning and running it took here, its alternatives included
  [[nodiscard]] bool ran() const { return failure.empty() && skipped.empty(); }
  // Ids of the rules that refuse every way of a transfer; empty if each transfer has a way.
  [[nodiscard]] std::vector<std::string> refusing_rules() const;
  // The nodes that were started for the run; empty if none were.
  [[nodiscard]] std::string started_nodes() const;
};

// One expectation on one machine and variant.
struct ExpectationResult {
  std::string machine;
  std::string variant;
  std::string what;  // "there: mechanism pcie_p2p"
  bool passed = false;
  std::string found;  // the figure, or what was found instead
  SourcePos pos;
  std::string timing_exclusion = {};    // why the figure is reported but not judged; empty: it is judged
  std::string key = {};                 // under which the scenario expects it: "makespan", "mechanism"
  std::vector<std::string> rules = {};  // ids of legality rules that explain what was found
  [[nodiscard]] bool judged() const { return timing_exclusion.empty(); }
  [[nodiscard]] bool violated() const { return judged() && !passed; }
  // "expected X; found Y", and the rules that explain it where neither names them.
  [[nodiscard]] std::string explanation() const;
  // "FILE:LINE:COLUMN"; the file alone if the line is unknown.
  [[nodiscard]] std::string location() const;
};

// Why a scenario could not be checked, on one machine or at all: its file cannot be read, the machine is not known.
struct CheckError {
  std::string machine;  // empty: on any
  SourcePos pos;
  std::string message;  // as it is printed: with the place, and the source line where there is one
};
// The errors that an exception tells, one for each diagnostic; `fallback` is the place of what has none of its own.
std::vector<CheckError> check_errors(InputError const& error, std::string const& machine, SourcePos const& fallback);

struct ScenarioVerdict {
  std::string scenario;  // its name; of a file that cannot be read, the file
  std::string title;
  std::string mode;  // "sim", "estimate" or "hw"
  std::vector<VariantRun> runs;
  std::vector<ExpectationResult> results;
  SourcePos pos = {};
  std::vector<CheckError> errors = {};
  // Everything ran, or failed as expected, no expectation is violated, and there is no error.
  [[nodiscard]] bool passed() const;
  // The same of one of its runs.
  [[nodiscard]] bool passed(VariantRun const& run) const;
};
// The verdict on a scenario file that cannot be read.
ScenarioVerdict unreadable_scenario(std::string const& file, std::string const& mode, InputError const& error);
bool has_errors(std::vector<ScenarioVerdict> const& verdicts);

// `lanewise: verdict/1`
nlohmann::ordered_json verdict_json(std::vector<ScenarioVerdict> const& verdicts);

}  // namespace lanewise
