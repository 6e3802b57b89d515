#include "core/interop/machines/matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lanewise {
namespace {

bool begins_affinity(std::vector<PlacedWord> const& words, std::size_t i) {
  auto const& text = words[i].text;
  return text == "CPU" || text == "NUMA" || text == "GPU" || text == "Affinity";
}

bool is_label(std::string_view text) {
  return !text.empty() && (is_letter(text[0]) || text[0] == '_') && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == ':' || c == '.' || c == '/';
  });
}

class MatrixFinder {
 public:
  MatrixFinder(SourceText const& source, IsCell const& is_cell) : source_(source), is_cell_(is_cell) {}

  std::optional<MatrixText> find(int first_line) {
    for (int line = std::max(1, first_line); line <= source_.line_count(); ++line)
      if (source_.line(line).find("GPU") != std::string_view::npos && read_header(line)) {
        read_rows(line_after_header_);
        return std::move(matrix_);
      }
    return std::nullopt;
  }

 private:
  // -------------------------------------------------------------------------------------------------------- header
  // The position of the first column's name in a line that may be a header; nullopt when it is none. Words before it
  // are a prompt, the prefix of a log, or what names the corner of the table.
  std::optional<std::size_t> first_column(std::vector<PlacedWord> const& words) const {
    constexpr std::size_t kMaxPrefix = 8;
    for (std::size_t i = 0; i < words.size() && i <= kMaxPrefix; ++i) {
      if (!is_gpu_label(words[i].text)) continue;
      bool const is_row = i + 1 < words.size() && is_cell_(words[i + 1].text);
      return is_row ? std::nullopt : std::optional(i);
    }
    return std::nullopt;
  }

  bool read_header(int line) {
    auto words = matrix_words(source_, line);
    auto const first = first_column(words);
    if (!first) return false;
    auto next = next_line(line);
    // A terminal wraps a long header: what follows is names as well, not a row.
    for (int i = 0; i < 4 && next <= source_.line_count(); ++i) {
      auto const more = matrix_words(source_, next);
      if (!continues_header(more) || !finds_row_after(next, words, *first, more)) break;
      words.insert(words.end(), more.begin(), more.end());
      next = next_line(next);
    }
    MatrixText matrix;
    auto i = *first;
    for (; i < words.size() && !begins_affinity(words, i); ++i) {
      if (words[i].text.empty()) continue;
      if (!is_label(words[i].text) && !is_ellipsis(words[i].text)) return false;
      matrix.columns.push_back(words[i]);
    }
    matrix.extras = extras_of(words, i);
    if (!has_row_within(next, matrix)) return false;
    check(matrix, line);
    matrix_ = std::move(matrix);
    line_after_header_ = next;
    return true;
  }

  bool continues_header(std::vector<PlacedWord> const& words) const {
    return !words.empty() && std::all_of(words.begin(), words.end(), [&](PlacedWord const& word) {
      return is_label(word.text) && !is_cell_(word.text);
    });
  }

  // Whether a row with a label of these columns stands after `line`.
  bool finds_row_after(int line, std::vector<PlacedWord> const& words, std::size_t first,
                       std::vector<PlacedWord> const& more) const {
    MatrixText both;
    both.columns.assign(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
    both.columns.insert(both.columns.end(), more.begin(), more.end());
    return has_row_within(next_line(line), both);
  }

  // The next line that is not empty and not only a rule such as |---|---|.
  int next_line(int line) const {
    for (++line; line <= source_.line_count(); ++line) {
      auto const text = source_.line(line);
      if (text.find_first_not_of(" \t\r|-:+=_#>\"',n\\") != std::string_view::npos) break;
    }
    return line;
  }

  bool has_row_within(int line, MatrixText const& matrix) const {
    constexpr int kMaxLines = 6;
    std::set<std::string_view> labels;
    for (auto const& column : matrix.columns) labels.insert(column.text);
    for (int i = 0; i < kMaxLines && line <= source_.line_count(); ++i, line = next_line(line)) {
      auto const words = matrix_words(source_, line);
      auto const label = label_in(words, labels);
      if (label && is_row(words, *label)) return true;
    }
    return false;
  }

  // The position of the label of a row: the first word that is a column's name, with a cell behind it or nothing.
  static std::optional<std::size_t> label_in(std::vector<PlacedWord> const& words,
                                             std::set<std::string_view> const& labels) {
    constexpr std::size_t kMaxPrefix = 8;
    for (std::size_t i = 0; i < words.size() && i <= kMaxPrefix; ++i)
      if (labels.contains(words[i].text)) return i;
    return std::nullopt;
  }

  static std::string extras_of(std::vector<PlacedWord> const& words, std::size_t i) {
    std::string extras;
    for (; i < words.size(); ++i) {
      auto const& text = words[i].text;
      if (text == "Affinity" || text == "ID" || text == "Node" || text.empty()) continue;
      if (text == "GPU") {
        extras += 'g';
        if (i + 1 < words.size() && words[i + 1].text == "NUMA") ++i;
      } else {
        extras += text == "CPU" ? 'c' : text == "NUMA" ? 'n' : '?';
      }
    }
    return extras;
  }

  void check(MatrixText const& matrix, int line) const {
    if (matrix.columns.size() > kMaxMatrixColumns)
      refuse_at({source_.name(), line, 1},
                fmt::format("{} columns; at most {} are read", matrix.columns.size(), kMaxMatrixColumns));
    Diagnostics diagnostics;
    std::set<std::string_view> seen;
    for (auto const& column : matrix.columns)
      if (!seen.insert(column.text).second && !is_ellipsis(column.text))
        diagnostics.add({source_.name(), column.line, column.column},
                        fmt::format("the column '{}' stands twice", column.text), source_.line(column.line));
    diagnostics.throw_if_any();
  }

  // ---------------------------------------------------------------------------------------------------------- rows
  void read_rows(int line) {
    std::set<std::string_view> labels;
    for (auto const& column : matrix_.columns) labels.insert(column.text);
    std::set<std::string_view> read;
    int without = 0;  // lines since the last row
    constexpr int kMaxGap = 12;
    for (; line <= source_.line_count() && without <= kMaxGap && read.size() < labels.size(); ++line) {
      auto const words = matrix_words(source_, line);
      if (ends_rows(words)) break;
      auto const label = label_in(words, labels);
      if (label && is_row(words, *label)) {
        read.insert(*labels.find(words[*label].text));
        matrix_.rows.push_back({words[*label], {}});
        add_words_of_row(words, *label + 1, line);
        without = 0;
      } else if (!matrix_.rows.empty() && without == 0 && continues_row(words)) {
        add_words_of_row(words, 0, line);
      } else {
        ++without;
      }
    }
    // The last row may be wrapped, too.
    if (read.size() == labels.size())
      for (; line <= source_.line_count(); ++line) {
        auto const words = matrix_words(source_, line);
        if (!continues_row(words)) break;
        add_words_of_row(words, 0, line);
      }
  }

  void add_words_of_row(std::vector<PlacedWord> const& words, std::size_t from, int line) {
    auto& row = matrix_.rows.back().words;
    row.insert(row.end(), words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
    matrix_.last_line = line;
  }

  static bool ends_rows(std::vector<PlacedWord> const& words) {
    if (words.empty()) return false;
    return words[0].text.starts_with("Legend") ||
           (words[0].text == "NIC" && words.size() > 1 && words[1].text == "Legend:");
  }

  bool is_row(std::vector<PlacedWord> const& words, std::size_t label) const {
    return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(label) + 1, words.end(),
                       [&](PlacedWord const& word) { return is_cell_(word.text); });
  }

  // Whether a line is the rest of a row that a terminal wrapped: cells first, and the row needs some.
  bool continues_row(std::vector<PlacedWord> const& words) const {
    return !words.empty() && is_cell_(words[0].text) && !matrix_.rows.empty() &&
           matrix_.rows.back().words.size() < matrix_.columns.size();
  }

  SourceText const& source_;
  IsCell const& is_cell_;
  MatrixText matrix_;
  int line_after_header_ = 0;
};

}  // namespace

std::optional<MatrixText> find_matrix(SourceText const& source, int first_line, IsCell const& is_cell) {
  return MatrixFinder(source, is_cell).find(first_line);
}

}  // namespace lanewise
