#pragma once
// A line of text as words that know their column, for readers of what programs print.
#include <string_view>
#include <vector>

namespace lanewise {

struct Word {
  std::string_view text;
  int column = 0;  // from 1
};

// The words of a line, which blanks, tabs and carriage returns separate.
std::vector<Word> words_of(std::string_view line);

}  // namespace lanewise
