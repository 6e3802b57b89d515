#include "core/text/table.hpp"

#include <algorithm>

namespace lanewise {
namespace {

// Terminal columns of a UTF-8 text without wide characters: continuation bytes take none.
std::size_t columns(std::string const& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_number(std::string const& text) {
  return text.empty() || text.front() == '-' || (text.front() >= '0' && text.front() <= '9');
}

}  // namespace

std::string Table::text() const {
  std::size_t count = header_.size();
  for (auto const& row : rows_) count = std::max(count, row.size());
  std::vector<std::size_t> widths(count, 0);
  std::vector<bool> numeric(count, !rows_.empty());
  auto const cell = [](std::vector<std::string> const& row, std::size_t i) {
    return i < row.size() ? row[i] : std::string();
  };
  for (std::size_t i = 0; i < count; ++i) {
    widths[i] = columns(cell(header_, i));
    for (auto const& row : rows_) {
      widths[i] = std::max(widths[i], columns(cell(row, i)));
      if (!is_number(cell(row, i))) numeric[i] = false;
    }
  }
  for (auto const column : left_)
    if (column < count) numeric[column] = false;
  std::string out;
  auto const write = [&](std::vector<std::string> const& row) {
    std::string line;
    for (std::size_t i = 0; i < count; ++i) {
      auto const text = cell(row, i);
      auto const pad = std::string(widths[i] - columns(text), ' ');
      line += (i > 0 ? "  " : "") + (numeric[i] ? pad + text : text + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  if (std::any_of(header_.begin(), header_.end(), [](auto const& h) { return !h.empty(); })) write(header_);
  for (auto const& row : rows_) write(row);
  return out;
}

}  // namespace lanewise
