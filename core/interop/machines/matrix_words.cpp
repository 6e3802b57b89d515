#include "core/interop/machines/matrix_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace lanewise {
namespace {

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

}  // namespace lanewise
