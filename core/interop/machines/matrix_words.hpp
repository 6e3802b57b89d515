#pragma once
// The words of a line of a matrix, as people keep matrices: printed by a tool, in a log, as a Markdown or HTML table,
// in a notebook, with terminal codes.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/file.hpp"

namespace lanewise {

// A word of a line, with its place.
struct PlacedWord {
  std::string text;
  int line = 0;
  int column = 0;  // from 1
};

// The words of a line without what only decorates it: pipes of Markdown, tags and entities of HTML, quotes and escapes
// of notebooks, terminal codes, prompts. An empty cell between two pipes is an empty word.
std::vector<PlacedWord> matrix_words(SourceText const& source, int line);

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// A whole number of at most nine digits.
std::optional<int> small_number(std::string_view text);
// Whether a text stands where an author left something out: "...".
bool is_ellipsis(std::string_view text);
// Whether a text is "GPU" and a number.
bool is_gpu_label(std::string_view text);

}  // namespace lanewise
