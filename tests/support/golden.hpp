#pragma once
#include <string>

namespace lanewise::test {

// Compares a text with tests/<name>, such as "view/golden/flat.tree". With LANEWISE_UPDATE_GOLDEN=1 in the environment
// the file is written instead; review the difference.
void expect_golden(std::string const& name, std::string const& text);

}  // namespace lanewise::test
