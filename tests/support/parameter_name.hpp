#pragma once
#include <algorithm>
#include <string>

namespace lanewise::test {

// The name of a test's parameter, in which GoogleTest allows only letters, digits and underscores: `text` with
// underscores for hyphens.
inline std::string parameter_name(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace lanewise::test
