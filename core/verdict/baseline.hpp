#pragma once
// What has changed since an earlier verdict: `check --json` of another commit, compared run by run.
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/plan/time_range.hpp"
#include "lanewise/units/text.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// What is compared of a transfer or a collective.
struct WorkSummary {
  std::string id;                   // of the transfer or collective; empty: the whole scenario is one collective
  std::string mechanism;            // or the algorithm of a collective
  std::optional<Bytes> bytes = {};  // absent: an older file, which does not say
  bool expected = false;            // the scenario expects this mechanism of it
};

// What is compared of one variant on one machine.
struct RunSummary {
  std::string scenario;
  std::string machine;
  std::string variant;
  bool measured = false;  // on hardware, and not simulated or estimated
  bool passed = true;
  SourcePos pos = {};                    // of the scenario
  std::optional<Seconds> makespan = {};  // absent: nothing ran
  std::optional<TimeRange> noise = {};   // of a measured makespan
  bool timed = true;                     // false: its times are not judged, and not compared
  std::vector<WorkSummary> work = {};
  friend bool same_run(RunSummary const& a, RunSummary const& b) {
    return a.scenario == b.scenario && a.machine == b.machine && a.variant == b.variant && a.measured == b.measured;
  }
};

struct Baseline {
  std::string file;
  std::vector<RunSummary> runs;
  bool complete = true;  // false: the check was stopped before its last scenario
};

// Reads `lanewise: verdict/1`, also of earlier versions. Throws InputError with the place of everything that is wrong.
Baseline read_baseline(SourceText const& source);
// The same of verdicts in memory. Scenarios with errors have only the runs that were made.
std::vector<RunSummary> summaries_of(std::vector<ScenarioVerdict> const& verdicts);

enum class ChangeKind : std::uint8_t { Fails, Slower, Mechanism, Gone, New, OtherWork, Faster, Fixed };
inline constexpr std::array<std::string_view, 8> kChangeNames{"fails", "slower",     "mechanism", "gone",
                                                              "new",   "other-work", "faster",    "fixed"};
inline std::string_view to_string(ChangeKind kind) { return kChangeNames[static_cast<std::size_t>(kind)]; }
Parsed<ChangeKind> parse_change(std::string_view text);

// One thing that has changed in one run.
struct Change {
  ChangeKind kind = ChangeKind::New;
  RunSummary run;      // as it is now; of a run that is gone, as it was
  std::string detail;  // "makespan 5.20 ms, was 4.86 ms (+7.0 %)"
  bool regression = false;
  std::optional<double> ratio = {};  // makespan now / makespan then, where both are known
};

struct BaselineOptions {
  double tolerance = 0.02;  // a run is slower when it takes longer by more than this share
  // Kinds that fail the check. A mechanism that changed is none where the scenario expects the new one, or the
  // run has become faster.
  std::vector<ChangeKind> fail_on{ChangeKind::Fails, ChangeKind::Slower, ChangeKind::Mechanism};
};

struct BaselineComparison {
  std::string file;
  double tolerance = 0;
  std::size_t compared = 0;     // runs that are in both
  std::size_t unchanged = 0;    // of these
  std::vector<Change> changes;  // regressions first
  [[nodiscard]] std::size_t regressions() const;
  [[nodiscard]] bool passed() const { return regressions() == 0; }
};

// Matches runs by scenario, machine and variant. Simulated and estimated runs are alike; measured ones are compared
// with measured ones, and only where both verdicts have any. Runs of a scenario that has an error now are not said to
// be gone.
BaselineComparison compare_with(Baseline const& baseline, std::vector<ScenarioVerdict> const& verdicts,
                                BaselineOptions const& options);
nlohmann::ordered_json to_json(BaselineComparison const& comparison);

}  // namespace lanewise
