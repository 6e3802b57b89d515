#pragma once
#include <cstdint>

namespace lanewise {

// How surely a text is of a format, judged by its content alone. Of several formats the surest is taken.
enum class Likeness : std::uint8_t {
  None,      // it is not
  Possible,  // it has words that the format shares with others
  Likely,    // it has words that the format usually has alone
  Certain    // it has a mark that no other format has
};

}  // namespace lanewise
