#include "lanewise/verdict/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise {

std::string VariantRun::started_nodes() const {
  auto const found = trace.environment.find(kNodesEnvironmentKey);
  return found == trace.environment.end() ? "" : found->second;
}

std::string ExpectationResult::explanation() const {
  auto text = fmt::format("expected {}; found {}", what, found);
  std::string unnamed;
  for (auto const& rule : rules)
    if (text.find(rule) == std::string::npos) unnamed += (unnamed.empty() ? "" : ", ") + rule;
  return unnamed.empty() ? text : fmt::format("{} (rules: {})", text, unnamed);
}

std::string ExpectationResult::location() const {
  return pos.line > 0 ? fmt::format("{}:{}:{}", pos.file, pos.line, pos.column) : pos.file;
}

std::vector<std::string> VariantRun::refusing_rules() const {
  for (auto const& transfer : evaluated) {
    if (transfer.chosen) continue;
    std::vector<std::string> rules;
    for (auto const& candidate : transfer.candidates)
      if (!candidate.legal() && std::find(rules.begin(), rules.end(), candidate.refused_by) == rules.end())
        rules.push_back(candidate.refused_by);
    return rules;
  }
  return {};
}

std::vector<CheckError> check_errors(InputError const& error, std::string const& machine, SourcePos const& fallback) {
  auto found = error.diagnostics();
  if (found.empty()) found.push_back({fallback, error.what(), {}});
  std::vector<CheckError> errors;
  for (auto& diagnostic : found) {
    if (diagnostic.pos.file.empty()) diagnostic.pos = fallback;
    errors.push_back({machine, diagnostic.pos, InputError(std::vector<Diagnostic>{diagnostic}).what()});
  }
  return errors;
}

ScenarioVerdict unreadable_scenario(std::string const& file, std::string const& mode, InputError const& error) {
  ScenarioVerdict verdict{file, {}, mode, {}, {}};
  verdict.pos = {file, 0, 0};
  verdict.errors = check_errors(error, {}, verdict.pos);
  return verdict;
}

bool has_errors(std::vector<ScenarioVerdict> const& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](auto const& verdict) { return !verdict.errors.empty(); });
}

bool ScenarioVerdict::passed(VariantRun const& run) const {
  return (run.failure.empty() || run.failure_expected) &&
         std::none_of(results.begin(), results.end(), [&](ExpectationResult const& result) {
           return result.machine == run.machine && result.variant == run.variant && result.violated();
         });
}

bool ScenarioVerdict::passed() const {
  if (!errors.empty()) return false;
  bool const ran = std::all_of(runs.begin(), runs.end(),
                               [](VariantRun const& run) { return run.failure.empty() || run.failure_expected; });
  return ran && std::none_of(results.begin(), results.end(),
                             [](ExpectationResult const& result) { return result.violated(); });
}

}  // namespace lanewise
