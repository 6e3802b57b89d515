#include "core/view/verdict_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/units/text.hpp"

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

// "8.3 % faster (5.1 to 11.0 %)" or slower, of a rival's time over the plan's.
std::string faster_text(TimeRatio const& ratio) {
  return fmt::format("{:.1f} % faster ({:.1f} to {:.1f} %)", (1 - ratio.value) * 100, (1 - ratio.interval.high) * 100,
                     (1 - ratio.interval.low) * 100);
}

// What is known of measured decisions that are not the best, or not settled.
std::string proven_regrets(VariantRun const& run, std::string const& where) {
  std::string text;
  for (auto const& regret : run.regrets) {
    auto const* rival = regret.better_rival();
    if (rival == nullptr) continue;
    bool const by_makespan = standing_of(rival->makespan_ratio) == Standing::Worse;
    text += fmt::format("regret {}: {}: {} {} {} in {} rounds\n", where, regret.transfer, rival->way,
                        by_makespan ? "makes the makespan" : "ends it",
                        faster_text(by_makespan ? rival->makespan_ratio : *rival->end_ratio), rival->rounds);
  }
  return text;
}

// Transfers whose repetitions differ by more than kNoisySpread.
std::string noisy_transfers(VariantRun const& run, std::string const& where) {
  std::string text;
  for (auto const& step : run.trace.steps)
    if (step.spread.value_or(0) > kNoisySpread)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", step.transfer, percent_text(*step.spread));
  return text.empty() ? "" : fmt::format("noise {}: repetitions differ: {}\n", where, text);
}

// How the decisions that ran in turn with alternatives stand, counted.
std::string standings_text(std::vector<ScenarioVerdict> const& verdicts) {
  std::map<Standing, std::size_t> counts;
  std::size_t decisions = 0;
  for (auto const& verdict : verdicts)
    for (auto const& run : verdict.runs) {
      if (verdict.mode != "hw" || !run.timing_exclusion.empty()) continue;
      for (auto const& regret : run.regrets) {
        if (regret.rivals.empty()) continue;
        ++decisions;
        ++counts[regret.standing()];
      }
    }
  if (decisions == 0) return {};
  return fmt::format(
      "{} decisions ran in turn with their alternatives: {} better, {} the same within {:.0f} %, {} within noise, {} "
      "worse (95 % confidence for each run)\n",
      decisions, counts[Standing::Better], counts[Standing::Same], kSameTime * 100, counts[Standing::WithinNoise],
      counts[Standing::Worse]);
}

std::string variant_of(std::string const& name) { return name.empty() ? "" : " (" + name + ")"; }

// What a reader must know of a run besides its row: what was left out, proven regrets, noise.
std::string notes_on(ScenarioVerdict const& verdict, VariantRun const& run) {
  auto const where = fmt::format("{} on {}{}", verdict.scenario, run.machine, variant_of(run.variant));
  std::string text;
  if (auto const note = partial_regret(run); !note.empty()) text += fmt::format("note {}: {}", where, note);
  if (verdict.mode == "hw" && run.ran() && run.timing_exclusion.empty())
    text += proven_regrets(run, where) + noisy_transfers(run, where);
  if (!run.skipped.empty()) text += fmt::format("skip {}: {}\n", where, run.skipped);
  return text;
}

// A row for each machine on which the scenario could not be checked.
std::vector<std::vector<std::string>> error_rows(ScenarioVerdict const& verdict, bool with_mode) {
  std::vector<std::vector<std::string>> rows;
  std::set<std::string> machines;
  for (auto const& error : verdict.errors) {
    if (!machines.insert(error.machine).second) continue;
    rows.push_back({verdict.scenario, error.machine, "", "", "", "", "", "", "ERROR"});
    if (with_mode) rows.back().insert(rows.back().begin(), verdict.mode);
  }
  return rows;
}

std::string errors_text(std::size_t errors) {
  return errors == 0 ? "" : fmt::format(", {} error{}", errors, errors == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> verdict_columns() {
  return {"scenario", "machine", "variant", "makespan", "at least", "gap", "regret", "expectations", "verdict"};
}

std::vector<std::string> verdict_row(ScenarioVerdict const& verdict, VariantRun const& run) {
  int passed = 0;
  int all = 0;
  for (auto const& result : verdict.results) {
    if (!belongs(result, run) || !result.judged()) continue;
    ++all;
    passed += result.passed ? 1 : 0;
  }
  auto const ran = run.ran();
  auto const timed = ran && run.timing_exclusion.empty();
  return {verdict.scenario,
          run.machine,
          run.variant.empty() ? "" : run.variant,
          ran ? rounded_text(run.trace.makespan) : "",
          ran && run.bound ? rounded_text(run.bound->makespan) : "",
          timed && run.bound ? percent_text(run.bound->gap(run.trace.makespan)) : "",
          timed && !run.trace.steps.empty() ? percent_text(worst_regret(run)) : "",
          fmt::format("{}/{}", passed, all),
          !verdict.passed(run)  ? "FAIL"
          : run.skipped.empty() ? "pass"
                                : "skip"};
}

std::string verdict_text(std::vector<ScenarioVerdict> const& verdicts) {
  // With both modes each scenario is there twice.
  bool const modes = std::any_of(verdicts.begin(), verdicts.end(),
                                 [&](ScenarioVerdict const& verdict) { return verdict.mode != verdicts.front().mode; });
  auto header = verdict_columns();
  if (modes) header.insert(header.begin(), "mode");
  Table table(header);
  std::string failures;
  std::string notes;
  std::string reported;
  std::size_t failed = 0;
  std::size_t expectations = 0;
  std::set<std::string> nodes;
  std::map<std::string, std::size_t> exclusions;  // number of figures that are not judged, by reason
  std::size_t errors = 0;
  for (auto const& verdict : verdicts) {
    errors += verdict.errors.size();
    for (auto& row : error_rows(verdict, modes)) table.add(std::move(row));
    for (auto const& run : verdict.runs) {
      auto row = verdict_row(verdict, run);
      if (modes) row.insert(row.begin(), verdict.mode);
      table.add(std::move(row));
      if (auto const where = run.started_nodes(); !where.empty()) nodes.insert(run.machine + ": " + where);
      notes += notes_on(verdict, run);
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
      auto const where = result.machine.empty() ? std::string() : " on " + result.machine;  // else on every machine
      failures += fmt::format("FAIL {}: {}{}{}: expected {}; found {}\n", result.location(), verdict.scenario, where,
                              variant_of(result.variant), result.what, result.found);
    }
    failed += verdict.passed() ? 0 : 1;
  }
  auto text = table.text();
  if (!failures.empty() || !notes.empty() || !reported.empty()) text += "\n" + failures + notes + reported;
  text += fmt::format("\n{} of {} scenarios pass, {} expectations checked{}\n", verdicts.size() - failed,
                      verdicts.size(), expectations, errors_text(errors));
  text += standings_text(verdicts);
  if (std::any_of(verdicts.begin(), verdicts.end(), [](auto const& verdict) { return verdict.mode == kEstimateMode; }))
    text += "estimated, not simulated (--mode estimate)\n";
  for (auto const& line : nodes) text += line + "\n";
  for (auto const& [why, count] : exclusions)
    text += fmt::format("{} figures of time are reported and not judged ({})\n", count, why);
  return text;
}

}  // namespace lanewise
