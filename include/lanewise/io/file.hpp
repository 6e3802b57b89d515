#pragma once
// Reads whole text files within limits, and writes files atomically.
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/error.hpp"

namespace lanewise {

// A text with its name and its line starts, so that an error can show its place.
class SourceText {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxLines = 800'000;

  // Throws InputError when the file cannot be read, is larger than the limits, is binary, or is not UTF-8.
  static SourceText load(std::filesystem::path const& path);
  // The same checks on a text already in memory; `name` stands for the file in messages.
  static SourceText from_memory(std::string name, std::string text);

  [[nodiscard]] std::string const& name() const { return name_; }
  [[nodiscard]] std::string const& text() const { return text_; }
  [[nodiscard]] std::string_view line(int number) const;  // 1-based; empty when there is no such line
  [[nodiscard]] int line_count() const { return static_cast<int>(line_starts_.size()); }
  [[nodiscard]] SourcePos position(std::size_t offset) const;
  [[nodiscard]] SourcePos whole() const { return {name_, 0, 0}; }

 private:
  std::string name_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
};

// All bytes of a file; of a larger one than SourceText accepts, only the beginning. Throws InputError when it cannot be
// read.
std::string read_file(std::filesystem::path const& path);
// The text without terminal escape sequences: colours, underlines, cursor movements.
std::string without_terminal_codes(std::string_view printed);

// Writes a temporary file beside `path` and renames it, so that no reader sees half of it. Of a symbolic link the
// target is replaced, not the link; a device or a pipe is written directly. Throws InputError with the path on failure.
void write_file(std::filesystem::path const& path, std::string_view content);

}  // namespace lanewise
