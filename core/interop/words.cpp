#include "core/interop/words.hpp"

#include <algorithm>

namespace lanewise {

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    auto const end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_hex_digit(char c) { return is_lower_hex_digit(c) || (c >= 'A' && c <= 'F'); }
bool is_hex(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_hex_digit); }
bool is_lower_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool is_lower_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_lower_hex_digit);
}

}  // namespace lanewise
