#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

// The text as it stands in a cell of a Markdown table: one line, and nothing in it is markup.
inline std::string markdown_cell(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '\n') {
      out += ' ';
    } else if (c == '<') {
      out += "&lt;";
    } else {
      if (std::string_view("|*_`\\").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

inline std::string markdown_row(std::vector<std::string> const& cells) {
  std::string row = "|";
  for (auto const& cell : cells) row += " " + markdown_cell(cell) + " |";
  return row + "\n";
}

// The header of a table and the line below it.
inline std::string markdown_header(std::vector<std::string> const& cells) {
  auto text = markdown_row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += "---|";
  return text + "\n";
}

}  // namespace lanewise
