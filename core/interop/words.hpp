#pragma once
// Lines of text as words that know their column, and kinds of characters, for readers of what programs print.
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

inline constexpr std::string_view kBlanks = " \t\r";

struct Word {
  std::string_view text;
  int column = 0;  // from 1
};

// The words of a line, which blanks, tabs and carriage returns separate.
std::vector<Word> words_of(std::string_view line);

// ASCII letters in lower case.
std::string lower_case(std::string_view text);

// The number that a text begins with, "16" of "16x"; nullopt where there is none, or none that fits.
template <class Number>
std::optional<Number> number_at_start(std::string_view text, int base = 10) {
  Number value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Of hexadecimal numbers, with letters in either case, or in lower case as the kernel and lspci write them. A text has
// at least one digit.
bool is_hex_digit(char c);
bool is_hex(std::string_view text);
bool is_lower_hex_digit(char c);
bool is_lower_hex(std::string_view text);

}  // namespace lanewise
