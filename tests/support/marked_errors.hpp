#pragma once
// Bad input with a mark wherever an error must point:
//
//   expect_errors("sockets:\n  - {socket: cpu0, part: §nowhere}\n", {"no part is called 'nowhere'"}, read);
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/file.hpp"

namespace lanewise::test {

// Reads the text without its marks and expects an InputError whose diagnostics stand at the marks, in file order, each
// containing its message.
void expect_errors(std::string_view marked, std::vector<std::string> const& messages,
                   std::function<void(SourceText const&)> const& read);

// The message of the InputError that `act` must throw; empty (and a failure) when it throws none.
std::string input_error(std::function<void()> const& act);

}  // namespace lanewise::test
