#include "lanewise/io/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise {
namespace {

constexpr std::size_t kMaxLineWidth = 160;  // a longer source line is not shown

std::string shown(Diagnostic const& d) {
  std::string text = d.pos.file;
  if (d.pos.line > 0) text += fmt::format(":{}:{}", d.pos.line, d.pos.column);
  text += fmt::format(": error: {}", d.message);
  if (d.source_line.empty() || d.source_line.size() > kMaxLineWidth) return text;
  auto const column = static_cast<std::size_t>(std::max(1, d.pos.column));
  std::string caret;
  for (std::size_t i = 0; i + 1 < column && i < d.source_line.size(); ++i)
    caret += d.source_line[i] == '\t' ? '\t' : ' ';
  return text + "\n  " + d.source_line + "\n  " + caret + "^";
}

std::string shown(std::vector<Diagnostic> const& diagnostics) {
  std::string text;
  for (auto const& d : diagnostics) text += (text.empty() ? "" : "\n") + shown(d);
  return text;
}

}  // namespace

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : Error(shown(diagnostics)), diagnostics_(std::move(diagnostics)) {}

std::string InputError::first_message() const { return diagnostics_.empty() ? what() : diagnostics_.front().message; }

void refuse_at(SourcePos pos, std::string message) {
  throw InputError(std::vector<Diagnostic>{{std::move(pos), std::move(message), {}}});
}

void Diagnostics::add(SourcePos pos, std::string message, std::string_view source_line) {
  if (found_.size() == kMaxShown) {
    ++unshown_;
    return;
  }
  found_.push_back({std::move(pos), std::move(message), std::string(source_line)});
}

void Diagnostics::throw_if_any() {
  if (found_.empty()) return;
  std::stable_sort(found_.begin(), found_.end(), [](auto const& a, auto const& b) { return a.pos < b.pos; });
  if (unshown_ > 0) found_.push_back({{found_.back().pos.file, 0, 0}, fmt::format("and {} more errors", unshown_), {}});
  throw InputError(std::move(found_));
}

DeviceError::DeviceError(std::string_view call, int code, std::string_view what)
    : Error(std::string(call) + ": " + std::string(what) + " (error " + std::to_string(code) + ")"), code_(code) {}

}  // namespace lanewise
