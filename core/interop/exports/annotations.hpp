#pragma once
// Writes what is wrong in verdicts as workflow commands of GitHub Actions, which shows each at its file and line.
#include <string>
#include <string_view>
#include <vector>

#include "core/verdict/baseline.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// "::error file=s.yaml,line=8,col=5,title=...::expected ..." for each error, failure and regression; "::notice" for
// other changes. Errors come first: GitHub shows ten of a step.
std::string github_annotations(std::vector<ScenarioVerdict> const& verdicts,
                               BaselineComparison const* comparison = nullptr);

// One such command; `level` is error, warning or notice.
std::string github_annotation(std::string_view level, SourcePos const& pos, std::string_view title,
                              std::string_view message);

}  // namespace lanewise
