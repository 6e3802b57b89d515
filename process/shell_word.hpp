#pragma once
#include <string>
#include <string_view>

namespace lanewise {

// A word as a POSIX shell reads it back: as it is if no character of it means anything to a shell, else quoted.
inline std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (auto const c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace lanewise
