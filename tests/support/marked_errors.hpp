#pragma once
// Bad input in which marks (§) show where the errors must point:
//
//   expect_errors("sockets:\n  - {socket: cpu0, part: §nowhere}\n", {"no part is called 'nowhere'"}, read);
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/file.hpp"

namespace lanewise::test {

// Reads the text without its marks. Expects an InputError with one diagnostic at each mark, in file order, which
// contains the message of the same index.
void expect_errors(std::string_view marked, std::vector<std::string> const& messages,
                   std::function<void(SourceText const&)> const& read);

// The message of the InputError that `act` throws. Fails, and returns an empty text, when it throws none.
std::string input_error(std::function<void()> const& act);

}  // namespace lanewise::test
