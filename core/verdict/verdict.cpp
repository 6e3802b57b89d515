#include "core/verdict/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise {

std::string VariantRun::started_nodes() const {
  auto const found = trace.environment.find(kNodesEnvironmentKey);
  return found == trace.environment.end() ? "" : found->second;
}

std::string ExpectationResult::location() const {
  return pos.line > 0 ? fmt::format("{}:{}:{}", pos.file, pos.line, pos.column) : pos.file;
}

bool ScenarioVerdict::passed() const {
  bool const ran = std::all_of(runs.begin(), runs.end(),
                               [](VariantRun const& run) { return run.failure.empty() || run.failure_expected; });
  return ran && std::none_of(results.begin(), results.end(),
                             [](ExpectationResult const& result) { return result.violated(); });
}

}  // namespace lanewise
