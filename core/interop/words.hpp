#pragma once
// Lines of text as words that know their column, for readers of what programs print.
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

struct Word {
  std::string_view text;
  int column = 0;  // from 1
};

// The words of a line, which blanks, tabs and carriage returns separate.
std::vector<Word> words_of(std::string_view line);

// ASCII letters in lower case.
std::string lower_case(std::string_view text);

}  // namespace lanewise
