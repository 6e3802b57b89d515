#include "core/verdict/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/io/json.hpp"
#include "core/io/word.hpp"
#include "core/text/percent.hpp"
#include "core/verdict/transfer_run.hpp"

namespace lanewise {
namespace {

// Whether the scenario names the mechanism that this transfer takes.
bool expects_mechanism(ScenarioVerdict const& verdict, VariantRun const& run, std::string const& transfer) {
  return std::any_of(verdict.results.begin(), verdict.results.end(), [&](ExpectationResult const& result) {
    return result.key == "mechanism" && result.passed && result.machine == run.machine &&
           result.variant == run.variant && result.what.starts_with(transfer + ": ");
  });
}

std::vector<WorkSummary> work_of(ScenarioVerdict const& verdict, VariantRun const& run) {
  std::vector<WorkSummary> work;
  for (auto const& decision : run.plan.decisions) {
    auto const& chosen = decision.candidates[decision.chosen];
    work.push_back({decision.transfer, std::string(to_string(chosen.way.mechanism)),
                    transfer_run(decision, run.trace).bytes, expects_mechanism(verdict, run, decision.transfer)});
  }
  auto const add = [&](std::string const& id, Collective const& collective) {
    work.push_back({id, std::string(to_string(collective.algorithm)), collective.bytes});
  };
  for (auto const& named : run.plan.collectives) add(named.id, named.collective);
  if (run.plan.collective) add("", *run.plan.collective);
  return work;
}

WorkSummary const* work_named(RunSummary const& run, std::string const& id) {
  auto const found = std::find_if(run.work.begin(), run.work.end(), [&](auto const& work) { return work.id == id; });
  return found == run.work.end() ? nullptr : &*found;
}

// Whether a scenario asks for other transfers or sizes than before: its times then say nothing about the machine.
bool is_other_work(RunSummary const& before, RunSummary const& now) {
  if (before.work.size() != now.work.size()) return true;
  return std::any_of(now.work.begin(), now.work.end(), [&](WorkSummary const& work) {
    auto const* old = work_named(before, work.id);
    return old == nullptr || (old->bytes && work.bytes && *old->bytes != *work.bytes);
  });
}

// Two measured times differ only where their intervals lie apart.
bool lies_apart(RunSummary const& smaller, RunSummary const& larger) {
  auto const high = smaller.noise ? smaller.noise->high : *smaller.makespan;
  auto const low = larger.noise ? larger.noise->low : *larger.makespan;
  return low > high;
}

std::vector<WorkSummary> with_other_mechanism(RunSummary const& before, RunSummary const& now) {
  std::vector<WorkSummary> changed;
  for (auto const& work : now.work)
    if (auto const* old = work_named(before, work.id); old != nullptr && old->mechanism != work.mechanism)
      changed.push_back(work);
  return changed;
}

std::string mechanisms_text(RunSummary const& before, std::vector<WorkSummary> const& changed) {
  constexpr std::size_t kMaxShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(changed.size(), kMaxShown); ++i) {
    auto const& [id, mechanism, bytes, expected] = changed[i];
    text += fmt::format("{}{}{}{}, was {}{}", i == 0 ? "" : "; ", id, id.empty() ? "" : ": ", mechanism,
                        work_named(before, id)->mechanism, expected ? " (as expected)" : "");
  }
  if (changed.size() > kMaxShown) text += fmt::format("; and {} more", changed.size() - kMaxShown);
  return text;
}

class Comparing {
 public:
  Comparing(BaselineOptions const& options, BaselineComparison& comparison)
      : options_(options), comparison_(comparison) {}

  void compare(RunSummary const& before, RunSummary const& now) {
    ++comparison_.compared;
    auto const changes_before = comparison_.changes.size();
    if (before.passed && !now.passed) add(ChangeKind::Fails, now, "fails; passed in the baseline");
    if (!before.passed && now.passed) add(ChangeKind::Fixed, now, "passes; failed in the baseline");
    if (before.makespan && now.makespan)
      compare_runs(before, now);
    else if (before.makespan)
      add(ChangeKind::Gone, now, "does not run now; it ran in the baseline");
    else if (now.makespan)
      add(ChangeKind::New, now, "runs now; it did not run in the baseline");
    if (comparison_.changes.size() == changes_before) ++comparison_.unchanged;
  }

  void add(ChangeKind kind, RunSummary const& run, std::string detail, std::optional<double> ratio = {}) {
    bool const fails = std::find(options_.fail_on.begin(), options_.fail_on.end(), kind) != options_.fail_on.end();
    comparison_.changes.push_back({kind, run, std::move(detail), fails, ratio});
  }

 private:
  void compare_runs(RunSummary const& before, RunSummary const& now) {
    if (is_other_work(before, now))
      return add(ChangeKind::OtherWork, now, "the scenario has other transfers or sizes: times are not compared");
    double const ratio = *now.makespan / *before.makespan;
    bool const timed = before.timed && now.timed;
    bool const slower = timed && ratio > 1 + options_.tolerance && lies_apart(before, now);
    bool const faster = timed && ratio < 1 - options_.tolerance && lies_apart(now, before);
    auto const times = fmt::format("makespan {}, was {} ({})", rounded_text(*now.makespan),
                                   rounded_text(*before.makespan), difference_text(ratio - 1, 1));
    if (slower) add(ChangeKind::Slower, now, times, ratio);
    if (faster) add(ChangeKind::Faster, now, times, ratio);
    auto const changed = with_other_mechanism(before, now);
    if (changed.empty()) return;
    add(ChangeKind::Mechanism, now, mechanisms_text(before, changed), ratio);
    bool const expected = std::all_of(changed.begin(), changed.end(), [](auto const& work) { return work.expected; });
    if (faster || expected) comparison_.changes.back().regression = false;
  }

  BaselineOptions const& options_;
  BaselineComparison& comparison_;
};

// The first run of the baseline that is the same and was not matched yet; in the same file where there are several.
std::optional<std::size_t> match(std::vector<RunSummary> const& runs, std::vector<bool> const& matched,
                                 RunSummary const& wanted) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (matched[i] || !same_run(runs[i], wanted)) continue;
    if (runs[i].pos.file == wanted.pos.file) return i;
    if (!found) found = i;
  }
  return found;
}

// Whether there are runs, but none that were measured, or none that were predicted.
bool lacks(std::vector<RunSummary> const& runs, bool measured) {
  return !runs.empty() &&
         std::none_of(runs.begin(), runs.end(), [&](RunSummary const& run) { return run.measured == measured; });
}

}  // namespace

Parsed<ChangeKind> parse_change(std::string_view text) {
  return parse_word<ChangeKind>(text, kChangeNames, "a kind of change");
}

std::size_t BaselineComparison::regressions() const {
  return static_cast<std::size_t>(
      std::count_if(changes.begin(), changes.end(), [](Change const& change) { return change.regression; }));
}

std::vector<RunSummary> summaries_of(std::vector<ScenarioVerdict> const& verdicts) {
  std::vector<RunSummary> runs;
  for (auto const& verdict : verdicts)
    for (auto const& run : verdict.runs) {
      RunSummary summary{verdict.scenario, run.machine, run.variant, verdict.mode == "hw", verdict.passed(run)};
      summary.pos = verdict.pos;
      summary.timed = run.timing_exclusion.empty();
      if (run.ran()) {
        // As a file has them, so that a run compares equal with itself.
        summary.makespan = through_json(run.trace.makespan);
        if (auto const& noise = run.trace.noise)
          summary.noise = TimeRange{through_json(noise->low), through_json(noise->high)};
        summary.work = work_of(verdict, run);
      }
      runs.push_back(std::move(summary));
    }
  return runs;
}

BaselineComparison compare_with(Baseline const& baseline, std::vector<ScenarioVerdict> const& verdicts,
                                BaselineOptions const& options) {
  BaselineComparison comparison{baseline.file, options.tolerance, 0, 0, {}};
  Comparing comparing(options, comparison);
  auto const runs = summaries_of(verdicts);
  auto const is_comparable = [&](RunSummary const& run) {
    return !lacks(baseline.runs, run.measured) && !lacks(runs, run.measured);
  };
  std::vector<bool> matched(baseline.runs.size(), false);
  for (auto const& now : runs) {
    if (!is_comparable(now)) continue;
    if (auto const i = match(baseline.runs, matched, now)) {
      matched[*i] = true;
      comparing.compare(baseline.runs[*i], now);
    } else {
      comparing.add(ChangeKind::New, now, "not in the baseline");
    }
  }
  std::set<std::string> unknown;  // scenarios and files of which not everything could be checked
  for (auto const& verdict : verdicts)
    if (!verdict.errors.empty()) unknown.insert({verdict.scenario, verdict.pos.file});
  for (std::size_t i = 0; i < matched.size(); ++i) {
    auto const& run = baseline.runs[i];
    if (matched[i] || !is_comparable(run) || unknown.contains(run.scenario) || unknown.contains(run.pos.file)) continue;
    comparing.add(ChangeKind::Gone, run, "only in the baseline");
  }
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(), [](Change const& a, Change const& b) {
    return std::pair(!a.regression, a.kind) < std::pair(!b.regression, b.kind);
  });
  return comparison;
}

nlohmann::ordered_json to_json(BaselineComparison const& comparison) {
  nlohmann::ordered_json json{{"file", comparison.file},
                              {"tolerance", comparison.tolerance},
                              {"passed", comparison.passed()},
                              {"compared", comparison.compared},
                              {"unchanged", comparison.unchanged}};
  json["changes"] = nlohmann::ordered_json::array();
  for (auto const& change : comparison.changes) {
    nlohmann::ordered_json item{{"change", to_string(change.kind)}, {"regression", change.regression},
                                {"scenario", change.run.scenario},  {"machine", change.run.machine},
                                {"variant", change.run.variant},    {"mode", change.run.measured ? "hw" : "sim"},
                                {"detail", change.detail}};
    if (change.ratio) item["ratio"] = *change.ratio;
    json["changes"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
