#include "cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/interop/exports/annotations.hpp"
#include "core/interop/exports/junit.hpp"
#include "core/view/baseline_text.hpp"
#include "core/view/both_modes_text.hpp"
#include "core/view/verdict_markdown.hpp"
#include "core/view/verdict_text.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

bool passed(CheckReport const& report) {
  return std::all_of(report.verdicts.begin(), report.verdicts.end(), [](auto const& v) { return v.passed(); }) &&
         (!report.comparison || report.comparison->passed());
}

// `of`: how many scenarios there were, when the user stopped the program before the last.
void put(Session const& session, CheckReport const& report, std::optional<std::size_t> of = {}) {
  auto const json = [&] {
    auto made = verdict_json(report.verdicts);
    made["passed"] = passed(report);
    if (of) made["stopped"] = {{"checked", report.verdicts.size()}, {"of", *of}};
    if (report.both) made["both_modes"] = both_modes_json(*report.both);
    if (report.comparison) made["baseline"] = to_json(*report.comparison);
    return made;
  };
  put_result(session, "", json, [&] {
    auto text = verdict_text(report.verdicts);
    if (report.both) text += "\n" + both_modes_text(*report.both);
    if (report.comparison) text += "\n" + baseline_text(*report.comparison);
    return text;
  });
}

// Each error once, although both modes may have it.
void print_errors(std::vector<ScenarioVerdict> const& verdicts) {
  std::set<std::string> printed;
  for (auto const& verdict : verdicts)
    for (auto const& error : verdict.errors)
      if (printed.insert(error.message).second) fmt::print(stderr, "{}\n", error.message);
}

}  // namespace

void ReportOptions::add_to(CLI::App& command) {
  command.add_option("--junit", junit_, "Also write JUnit XML to this file")->type_name("FILE");
  command.add_option("--summary", summary_, "Also write a summary in Markdown to this file")->type_name("FILE");
  command
      .add_option("--annotations", annotations_,
                  "Also print each error, failure and regression to standard error as an annotation at its file and "
                  "line: github")
      ->check(CLI::IsMember({"github"}))
      ->type_name("FORM");
  command
      .add_option("--baseline", baseline_file_,
                  "Compare with an earlier output of `check --json`; the exit code is 1 on regressions")
      ->type_name("FILE");
  command
      .add_option("--tolerance", tolerance_,
                  "With --baseline: a run is slower, or faster, when its makespan differs by more than this")
      ->type_name("RATIO")
      ->capture_default_str();
  command
      .add_option(
          "--fail-on", fail_on_,
          "With --baseline: changes that are regressions, separated by commas, of slower, mechanism, new, gone, "
          "other-work; a changed mechanism is none where the run is faster or the scenario expects it")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("CHANGE,...")
      ->default_str("slower,mechanism");
}

void ReportOptions::prepare() {
  options_.tolerance = argument(parse_ratio(tolerance_));
  options_.fail_on = {ChangeKind::Fails};
  for (auto const& word : fail_on_) options_.fail_on.push_back(argument(parse_change(word)));
  if (baseline_file_.empty()) return;
  baseline_ = read_baseline(SourceText::load(baseline_file_));
  if (!baseline_->complete)
    fmt::print(stderr, "{}: warning: this check was stopped before its last scenario: what it lacks counts as new\n",
               baseline_file_);
}

void ReportOptions::report(Session& session, CheckReport report) const {
  if (baseline_) report.comparison = compare_with(*baseline_, report.verdicts, options_);
  auto const* comparison = report.comparison ? &*report.comparison : nullptr;
  print_errors(report.verdicts);
  if (!annotations_.empty()) fmt::print(stderr, "{}", github_annotations(report.verdicts, comparison));
  if (!junit_.empty()) write_file(junit_, junit_xml(report.verdicts, comparison));
  if (!summary_.empty()) write_file(summary_, verdict_markdown(report.verdicts, comparison));
  put(session, report);
  session.exit_code = has_errors(report.verdicts) ? ExitCode::BadInput
                      : passed(report)            ? ExitCode::Fine
                                                  : ExitCode::ExpectationFailed;
}

void ReportOptions::stop(Session& session, std::vector<ScenarioVerdict> const& verdicts, std::size_t count,
                         std::string const& runs_file) const {
  print_errors(verdicts);
  put(session, {verdicts}, count);
  std::fflush(stdout);
  std::string unwritten;
  for (auto const& file : {junit_, summary_, runs_file})
    if (!file.empty()) unwritten += fmt::format("; {} was not written", file);
  fmt::print(stderr, "stopped: {} of {} scenarios were checked{}\n", verdicts.size(), count, unwritten);
  session.exit_code = ExitCode::Interrupted;
}

void ReportOptions::warn(SourcePos const& pos, std::string const& message) const {
  fmt::print(stderr, "{}:{}: warning: {}\n", pos.file, pos.line, message);
  if (!annotations_.empty()) fmt::print(stderr, "{}", github_annotation("warning", pos, "lanewise", message));
}

}  // namespace lanewise::cli
