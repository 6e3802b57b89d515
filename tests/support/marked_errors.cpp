#include "tests/support/marked_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanewise::test {
namespace {

using Place = std::pair<int, int>;

struct Unmarked {
  std::string text;
  std::vector<Place> places;
};

Unmarked unmarked(std::string_view marked) {
  constexpr std::string_view kMark = "§";
  Unmarked found;
  int line = 1;
  int column = 1;
  while (!marked.empty()) {
    if (marked.starts_with(kMark)) {
      found.places.emplace_back(line, column);
      marked.remove_prefix(kMark.size());
      continue;
    }
    bool const line_end = marked.front() == '\n';
    line += line_end ? 1 : 0;
    column = line_end ? 1 : column + 1;
    found.text += marked.front();
    marked.remove_prefix(1);
  }
  return found;
}

}  // namespace

void expect_errors(std::string_view marked, std::vector<std::string> const& messages,
                   std::function<void(SourceText const&)> const& read) {
  auto const [text, places] = unmarked(marked);
  auto const source = SourceText::from_memory("bad.yaml", text);
  try {
    read(source);
  } catch (InputError const& error) {
    std::vector<Place> found;
    for (auto const& d : error.diagnostics()) found.emplace_back(d.pos.line, d.pos.column);
    EXPECT_EQ(found, places) << error.what() << "\nin\n" << text;
    ASSERT_EQ(error.diagnostics().size(), messages.size()) << error.what();
    for (std::size_t i = 0; i < messages.size(); ++i)
      EXPECT_THAT(error.diagnostics()[i].message, testing::HasSubstr(messages[i]));
    return;
  }
  ADD_FAILURE() << "nothing is refused in\n" << text;
}

std::string input_error(std::function<void()> const& act) {
  try {
    act();
  } catch (InputError const& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing is refused";
  return {};
}

}  // namespace lanewise::test
