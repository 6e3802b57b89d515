#pragma once
#include <string>

namespace lanewise::test {

// Compares a text with tests/view/golden/<name>. With LANEWISE_UPDATE_GOLDEN=1 in the environment the file is written
// instead; review the difference.
void expect_golden(std::string const& name, std::string const& text);

}  // namespace lanewise::test
