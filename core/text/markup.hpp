#pragma once
#include <string>
#include <string_view>

namespace lanewise {

// A text within XML or HTML, also as the value of an attribute in double quotes.
inline std::string markup_escaped(std::string_view text) {
  std::string escaped;
  for (char const c : text) switch (c) {
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '&': escaped += "&amp;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  return escaped;
}

}  // namespace lanewise
