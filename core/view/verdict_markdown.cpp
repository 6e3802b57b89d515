#include "core/view/verdict_markdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/markdown.hpp"
#include "core/view/baseline_text.hpp"
#include "core/view/verdict_text.hpp"

namespace lanewise {
namespace {

// GitHub shows at most 1 MiB of a step's summary; a row takes some 150 bytes.
constexpr std::size_t kMaxRows = 1000;
constexpr std::size_t kMaxOpenRows = 20;  // a longer table is folded
constexpr std::size_t kMaxProblems = 200;

std::string on(std::string const& machine, std::string const& variant) {
  return (machine.empty() ? "" : " on " + machine) + (variant.empty() ? "" : " (" + variant + ")");
}

// Lines of a list, of which the last are only counted.
class List {
 public:
  void add(std::string const& line) {
    if (++count_ <= kMaxProblems) text_ += "- " + line + "\n";
  }
  [[nodiscard]] std::string under(std::string_view heading) const {
    if (count_ == 0) return {};
    auto const more = count_ > kMaxProblems ? fmt::format("- and {} more\n", count_ - kMaxProblems) : std::string();
    return fmt::format("\n#### {}\n\n{}{}", heading, text_, more);
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

std::string place(SourcePos const& pos) {
  return markdown_cell(pos.line > 0 ? fmt::format("{}:{}", pos.file, pos.line) : pos.file);
}

std::string errors_of(std::vector<ScenarioVerdict> const& verdicts) {
  List list;
  for (auto const& verdict : verdicts)
    for (auto const& error : verdict.errors)  // without the source line and its caret
      list.add(markdown_cell(error.message.substr(0, error.message.find('\n'))));
  return list.under("Cannot be checked");
}

std::string failures_of(std::vector<ScenarioVerdict> const& verdicts) {
  List list;
  for (auto const& verdict : verdicts) {
    for (auto const& run : verdict.runs)
      if (!run.failure.empty() && !run.failure_expected)
        list.add(fmt::format("{}: **{}**{}: {}", place(verdict.pos), markdown_cell(verdict.scenario),
                             markdown_cell(on(run.machine, run.variant)), markdown_cell(run.failure)));
    for (auto const& result : verdict.results) {
      if (!result.violated() || result.key == "plan") continue;
      list.add(fmt::format("{}: **{}**{}: {}", place(result.pos), markdown_cell(verdict.scenario),
                           markdown_cell(on(result.machine, result.variant)), markdown_cell(result.explanation())));
    }
  }
  return list.under("Failures");
}

std::string runs_of(std::vector<ScenarioVerdict> const& verdicts) {
  auto header = verdict_columns();
  header.insert(header.begin(), "mode");
  auto text = markdown_header(header);
  std::size_t rows = 0;
  for (auto const& verdict : verdicts)
    for (auto const& run : verdict.runs) {
      if (++rows > kMaxRows) continue;
      auto row = verdict_row(verdict, run);
      row.insert(row.begin(), verdict.mode);
      text += markdown_row(row);
    }
  if (rows == 0) return {};
  if (rows > kMaxRows) text += fmt::format("\n{} more runs are not shown\n", rows - kMaxRows);
  if (rows <= kMaxOpenRows) return "\n" + text;
  return fmt::format("\n<details><summary>{} runs</summary>\n\n{}\n</details>\n", rows, text);
}

}  // namespace

std::string verdict_markdown(std::vector<ScenarioVerdict> const& verdicts, BaselineComparison const* comparison) {
  auto const passed = std::count_if(verdicts.begin(), verdicts.end(), [](auto const& v) { return v.passed(); });
  auto text = fmt::format("### lanewise: {} of {} scenarios pass\n", passed, verdicts.size());
  text += errors_of(verdicts) + failures_of(verdicts);
  if (comparison != nullptr) text += "\n#### Changes\n\n" + baseline_markdown(*comparison);
  return text + runs_of(verdicts);
}

}  // namespace lanewise
