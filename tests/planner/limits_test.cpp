// docs/planner-limits.md has a row for every limit of the planner, and no others.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace lanewise {
namespace {

std::string text_of(std::string const& path) {
  std::ifstream file(LANEWISE_SOURCE_DIR "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every first group.
std::set<std::string> matches(std::string const& text, char const* pattern) {
  std::regex const expression(pattern, std::regex::ECMAScript | std::regex::multiline);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression); it != std::sregex_iterator(); ++it)
    found.insert((*it)[1]);
  return found;
}

std::string section_of(std::string const& page, std::string const& title) {
  auto const begin = page.find("\n## " + title + "\n");
  EXPECT_NE(begin, std::string::npos) << title;
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

void expect_documented(std::string const& title, std::string const& header) {
  auto const fields = matches(text_of(header), R"(^  [\w:<>, ]+ (\w+)(?:\[\d+\])?(?: = |\{))");
  EXPECT_FALSE(fields.empty()) << header;
  EXPECT_EQ(matches(section_of(text_of("docs/planner-limits.md"), title), R"(^\| `(\w+)` \|)"), fields) << title;
}

TEST(PlannerLimits, AreDocumented) {
  expect_documented("SearchLimits", "core/planner/search_limits.hpp");
  expect_documented("ScheduleLimits", "core/planner/schedules/schedule_limits.hpp");
  expect_documented("CollectiveLimits", "core/planner/collective_limits.hpp");
  expect_documented("BoundLimits", "core/planner/bound_limits.hpp");
}

}  // namespace
}  // namespace lanewise
