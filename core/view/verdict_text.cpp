#include "core/view/verdict_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/estimate/estimating_executor.hpp"
#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

bool belongs(ExpectationResult const& result, VariantRun const& run) {
  return result.machine == run.machine && result.variant == run.variant;
}

double worst_regret(VariantRun const& run) {
  double worst = 0;
  for (auto const& regret : run.regrets) worst = std::max(worst, regret.share());
  return worst;
}

std::vector<std::string> row_of(ScenarioVerdict const& verdict, VariantRun const& run) {
  int passed = 0;
  int all = 0;
  for (auto const& result : verdict.results) {
    if (!belongs(result, run) || !result.judged()) continue;
    ++all;
    passed += result.passed ? 1 : 0;
  }
  auto const ran = run.ran();
  auto const timed = ran && run.timing_exclusion.empty();
  bool const fine = (run.failure.empty() || run.failure_expected) && passed == all;
  return {verdict.scenario,
          run.machine,
          run.variant.empty() ? "" : run.variant,
          ran ? rounded_text(run.trace.makespan) : "",
          ran && run.bound ? rounded_text(run.bound->makespan) : "",
          timed && run.bound ? percent_text(run.bound->gap(run.trace.makespan)) : "",
          timed ? percent_text(worst_regret(run)) : "",
          fmt::format("{}/{}", passed, all),
          !fine                 ? "FAIL"
          : run.skipped.empty() ? "pass"
                                : "skip"};
}

// What is said of a run whose alternatives did not all run because there are too many.
std::string partial_regret(VariantRun const& run) {
  auto const untried =
      std::count_if(run.regrets.begin(), run.regrets.end(), [](Regret const& regret) { return !regret.sampled; });
  if (untried == 0) return {};
  return fmt::format(
      "the regret is that of {} of {} transfers: running every alternative of so long a plan takes too "
      "long\n",
      run.regrets.size() - static_cast<std::size_t>(untried), run.regrets.size());
}

std::string variant_of(std::string const& name) { return name.empty() ? "" : " (" + name + ")"; }

}  // namespace

std::string verdict_text(std::vector<ScenarioVerdict> const& verdicts) {
  // With both modes each scenario is there twice.
  bool const modes = std::any_of(verdicts.begin(), verdicts.end(),
                                 [&](ScenarioVerdict const& verdict) { return verdict.mode != verdicts.front().mode; });
  std::vector<std::string> header{"scenario", "machine", "variant",      "makespan", "at least",
                                  "gap",      "regret",  "expectations", "verdict"};
  if (modes) header.insert(header.begin(), "mode");
  Table table(header);
  std::string failures;
  std::string skipped;
  std::string reported;
  std::size_t failed = 0;
  std::size_t expectations = 0;
  std::set<std::string> nodes;
  std::map<std::string, std::size_t> exclusions;  // number of figures that are not judged, by reason
  for (auto const& verdict : verdicts) {
    for (auto const& run : verdict.runs) {
      auto row = row_of(verdict, run);
      if (modes) row.insert(row.begin(), verdict.mode);
      table.add(std::move(row));
      if (auto const where = run.started_nodes(); !where.empty()) nodes.insert(run.machine + ": " + where);
      if (auto const note = partial_regret(run); !note.empty())
        skipped += fmt::format("note {} on {}{}: {}", verdict.scenario, run.machine, variant_of(run.variant), note);
      if (!run.skipped.empty())
        skipped +=
            fmt::format("skip {} on {}{}: {}\n", verdict.scenario, run.machine, variant_of(run.variant), run.skipped);
      if (!run.failure.empty() && !run.failure_expected)
        failures +=
            fmt::format("FAIL {} on {}{}: {}\n", verdict.scenario, run.machine, variant_of(run.variant), run.failure);
    }
    for (auto const& result : verdict.results) {
      if (!result.judged()) {
        ++exclusions[result.timing_exclusion];
        reported += fmt::format("time {} on {}{}: {}; found {}\n", verdict.scenario, result.machine,
                                variant_of(result.variant), result.what, result.found);
        continue;
      }
      ++expectations;
      if (result.passed) continue;
      failures += fmt::format("FAIL {}: {} on {}{}: expected {}; found {}\n", result.location(), verdict.scenario,
                              result.machine, variant_of(result.variant), result.what, result.found);
    }
    failed += verdict.passed() ? 0 : 1;
  }
  auto text = table.text();
  if (!failures.empty() || !skipped.empty() || !reported.empty()) text += "\n" + failures + skipped + reported;
  text += fmt::format("\n{} of {} scenarios pass, {} expectations checked\n", verdicts.size() - failed, verdicts.size(),
                      expectations);
  if (std::any_of(verdicts.begin(), verdicts.end(), [](auto const& verdict) { return verdict.mode == kEstimateMode; }))
    text += "estimated, not simulated (--mode estimate)\n";
  for (auto const& line : nodes) text += line + "\n";
  for (auto const& [why, count] : exclusions)
    text += fmt::format("{} figures of time are reported and not judged ({})\n", count, why);
  return text;
}

}  // namespace lanewise
