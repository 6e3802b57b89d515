#include "core/interop/exports/annotations.hpp"

#include <fmt/format.h>

namespace lanewise {
namespace {

// Characters that end a message, or a property, of a workflow command are written as the runner decodes them:
// actions/toolkit, packages/core/src/command.ts.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (char const c : text)
    if (special.find(c) == std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return out;
}
std::string message_text(std::string_view text) { return escaped(text, "%\r\n"); }
std::string property_text(std::string_view text) { return escaped(text, "%\r\n:,"); }

std::string where(std::string const& scenario, std::string const& machine, std::string const& variant) {
  auto text = scenario;
  if (!machine.empty()) text += " on " + machine;
  if (!variant.empty()) text += " (" + variant + ")";
  return text;
}

std::string of_failures(ScenarioVerdict const& verdict) {
  std::string text;
  for (auto const& run : verdict.runs)
    if (!run.failure.empty() && !run.failure_expected)
      text += github_annotation("error", verdict.pos, where(verdict.scenario, run.machine, run.variant), run.failure);
  for (auto const& result : verdict.results) {
    if (!result.violated() || result.key == "plan") continue;  // why there is no plan, the run says
    text += github_annotation("error", result.pos, where(verdict.scenario, result.machine, result.variant),
                              result.explanation());
  }
  return text;
}

}  // namespace

std::string github_annotation(std::string_view level, SourcePos const& pos, std::string_view title,
                              std::string_view message) {
  std::string properties;
  if (!pos.file.empty()) properties = "file=" + property_text(pos.file) + ",";
  if (pos.line > 0) properties += fmt::format("line={},col={},", pos.line, pos.column);
  return fmt::format("::{} {}title={}::{}\n", level, properties, property_text(title), message_text(message));
}

std::string github_annotations(std::vector<ScenarioVerdict> const& verdicts, BaselineComparison const* comparison) {
  std::string text;
  for (auto const& verdict : verdicts)
    for (auto const& error : verdict.errors)
      text += github_annotation("error", error.pos, where(verdict.scenario, error.machine, "") + " cannot be checked",
                                error.message);
  for (auto const& verdict : verdicts) text += of_failures(verdict);
  if (comparison == nullptr) return text;
  for (auto const& change : comparison->changes) {
    if (change.kind == ChangeKind::Fails) continue;  // what fails is said above
    auto const& run = change.run;
    auto pos = run.pos;
    if (change.kind == ChangeKind::Gone) pos = {};  // its file may be gone, too
    text += github_annotation(
        change.regression ? "error" : "notice", pos,
        fmt::format("{}: {}", where(run.scenario, run.machine, run.variant), to_string(change.kind)), change.detail);
  }
  return text;
}

}  // namespace lanewise
