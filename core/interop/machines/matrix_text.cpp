#include "core/interop/machines/matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace lanewise {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// ------------------------------------------------------------------------------------------------------ decorations

// What stands for a blank or for the border of a cell. Longer ones first.
struct Decoration {
  std::string_view text;
  bool border = false;
};
constexpr std::array<Decoration, 18> kDecorations{{{"\\u001b", false},
                                                   {"&emsp;", false},
                                                   {"&ensp;", false},
                                                   {"&nbsp;", false},
                                                   {"&#160;", false},
                                                   {"</td>", true},
                                                   {"</th>", true},
                                                   {"&#9;", false},
                                                   {"\xef\xbb\xbf", false},
                                                   {"\xe3\x80\x80", false},
                                                   {"\xe2\x94\x82", true},
                                                   {"\xe2\x94\x83", true},
                                                   {"\xc2\xa0", false},
                                                   {"\\t", false},
                                                   {"\\n", false},
                                                   {"\\r", false},
                                                   {"^[", false},
                                                   {"|", true}}};

// The length of a terminal code at `at`, with or without its escape character, which pasting often loses: "[4m".
std::size_t terminal_code(std::string_view text, std::size_t at) {
  auto end = at;
  if (text[end] == '\x1b') ++end;
  if (end >= text.size() || text[end] != '[') return 0;
  for (++end; end < text.size() && (is_digit(text[end]) || text[end] == ';');) ++end;
  return end < text.size() && text[end] == 'm' ? end + 1 - at : 0;
}

// The length of an HTML tag at `at`.
std::size_t html_tag(std::string_view text, std::size_t at) {
  if (text[at] != '<' || at + 1 >= text.size() || (!is_letter(text[at + 1]) && text[at + 1] != '/')) return 0;
  auto const end = text.find('>', at);
  return end == std::string_view::npos ? 0 : end + 1 - at;
}

// The line with every decoration blanked, so that columns stay; borders of cells become '|'.
std::string without_decorations(std::string_view line) {
  std::string plain(line);
  auto const blank = [&](std::size_t at, std::size_t length) { plain.replace(at, length, length, ' '); };
  for (std::size_t i = 0; i < plain.size();) {
    if (auto const length = terminal_code(line, i); length > 0) {
      blank(i, length);
      i += length;
      continue;
    }
    auto const* const known = std::find_if(kDecorations.begin(), kDecorations.end(), [&](Decoration const& decoration) {
      return line.substr(i, decoration.text.size()) == decoration.text;
    });
    if (known != kDecorations.end()) {
      blank(i, known->text.size());
      if (known->border) plain[i] = '|';
      i += known->text.size();
      continue;
    }
    if (auto const length = html_tag(line, i); length > 0) {
      blank(i, length);
      i += length;
      continue;
    }
    constexpr std::string_view kQuotes = "\"'`*";
    if (kQuotes.find(plain[i]) != std::string_view::npos) plain[i] = ' ';
    ++i;
  }
  return plain;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// A comma of a list in a notebook or of CSV, not one of a list of cores: no digit follows.
bool is_separator(std::string_view text, std::size_t i) {
  return text[i] == ',' && (i + 1 >= text.size() || !is_digit(text[i + 1]) || i == 0 || !is_digit(text[i - 1]));
}

// Adds the blank-separated words of text[begin, end).
void add_words(std::string_view text, std::size_t begin, std::size_t end, int line, std::vector<PlacedWord>& words) {
  for (auto i = begin; i < end;) {
    if (is_blank(text[i]) || is_separator(text, i)) {
      ++i;
      continue;
    }
    auto stop = i;
    while (stop < end && !is_blank(text[stop]) && !is_separator(text, stop)) ++stop;
    words.push_back({std::string(text.substr(i, stop - i)), line, static_cast<int>(i) + 1});
    i = stop;
  }
}

// "GPU 0" is one label.
void join_labels(std::vector<PlacedWord>& words) {
  std::vector<PlacedWord> joined;
  for (auto& word : words) {
    bool const joins =
        !joined.empty() && (joined.back().text == "GPU" || joined.back().text == "NIC") && small_number(word.text);
    if (joins)
      joined.back().text += word.text;
    else
      joined.push_back(std::move(word));
  }
  words = std::move(joined);
}

// The length of a label or a distance at the start of a text: "GPU12", "NIC3", "CPU", "NODE"; 0: neither.
std::size_t token_length(std::string_view text) {
  constexpr std::array<std::string_view, 9> kTokens{"GPU", "NIC", "CPU", "PIX", "PXB", "PHB", "NODE", "SYS", "X"};
  for (auto const token : kTokens) {
    if (!text.starts_with(token)) continue;
    auto end = token.size();
    bool const numbered = token == "GPU" || token == "NIC";
    while (numbered && end < text.size() && is_digit(text[end])) ++end;
    return numbered && end == token.size() ? 0 : end;
  }
  return 0;
}

// Copying from a web page may lose all blanks: "GPU0GPU1CPU", "GPU0XNODE0-31". Splits such a word, if it begins with a
// GPU and another label or distance follows at once.
void split_joined(std::vector<PlacedWord>& words) {
  if (words.empty() || !words.front().text.starts_with("GPU")) return;
  auto const whole = words.front();
  std::vector<PlacedWord> parts;
  std::size_t at = 0;
  for (auto const text = std::string_view(whole.text); at < text.size();) {
    auto const length = token_length(text.substr(at));
    if (length == 0) break;
    parts.push_back({std::string(text.substr(at, length)), whole.line, whole.column + static_cast<int>(at)});
    at += length;
  }
  if (parts.size() < 2) return;
  if (at < whole.text.size()) parts.push_back({whole.text.substr(at), whole.line, whole.column + static_cast<int>(at)});
  words.erase(words.begin());
  words.insert(words.begin(), parts.begin(), parts.end());
}

}  // namespace

std::optional<int> small_number(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = !text.empty() && text.size() <= 9 && is_digit(text[0]) && error == std::errc() &&
                     end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool is_ellipsis(std::string_view text) { return text == "..." || text == "\xe2\x80\xa6" || text == ".."; }

bool is_gpu_label(std::string_view text) { return text.starts_with("GPU") && small_number(text.substr(3)); }

std::vector<PlacedWord> matrix_words(SourceText const& source, int line) {
  auto const text = without_decorations(source.line(line));
  std::vector<PlacedWord> words;
  if (std::count(text.begin(), text.end(), '|') < 2) {
    auto plain = text;
    std::replace(plain.begin(), plain.end(), '|', ' ');
    add_words(plain, 0, plain.size(), line, words);
  } else {
    auto begin = text.find_first_not_of(" \t\r");
    if (text[begin] == '|') ++begin;
    auto const last = text.find_last_not_of(" \t\r");
    while (begin <= last) {
      auto const end = std::min(text.find('|', begin), last + 1);
      auto const before = words.size();
      add_words(text, begin, end, line, words);
      if (words.size() == before) words.push_back({{}, line, static_cast<int>(begin) + 1});
      begin = end + 1;
    }
  }
  // Marks of quoting, comments and lists before the first word.
  constexpr std::string_view kMarks = ">#/$-+";
  while (!words.empty() && !words.front().text.empty() &&
         words.front().text.find_first_not_of(kMarks) == std::string::npos)
    words.erase(words.begin());
  join_labels(words);
  split_joined(words);
  return words;
}

namespace {

// --------------------------------------------------------------------------------------------------------- the matrix

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
