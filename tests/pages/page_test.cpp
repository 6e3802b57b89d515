#include "pages/page.hpp"

#include <gmock/gmock.h>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;

// Built without d3 nothing can be drawn; the other tests are about what is.
std::optional<std::string> page_of(PageContent const& content) {
  try {
    return html_page(content);
  } catch (MissingError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("node-d3"));
    return std::nullopt;
  }
}

std::size_t count_of(std::string const& text, std::string const& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Page, HoldsTheResultAndCanBeReadBack) {
  nlohmann::ordered_json const result{{"lanewise", "matrix/1"}, {"machine", "a <b> & \"c\" \u00e9"}};
  auto const page = page_of({.title = "lanewise matrix", .made_by = "lanewise 1", .result = result});
  if (!page) GTEST_SKIP() << "built without d3";
  auto const begin = page->find("id=\"result\">") + std::string("id=\"result\">").size();
  auto const text = page->substr(begin, page->find("</script>", begin) - begin);
  EXPECT_EQ(nlohmann::ordered_json::parse(text), result);
}

// A name in a file may hold anything; it must not become part of the page's code.
TEST(Page, NothingInItEndsAScript) {
  std::string const evil = "</script><script>alert(1)</script><!--";
  PageContent const harmless{.title = "x", .made_by = "x", .result = {{"lanewise", "a/1"}}};
  PageContent const content{
      .title = evil, .made_by = evil, .result = {{"lanewise", "a/1"}, {"name", evil}}, .machine = {{"title", evil}}};
  auto const page = page_of(content);
  if (!page) GTEST_SKIP() << "built without d3";
  EXPECT_EQ(count_of(*page, "<script"), count_of(*page_of(harmless), "<script"));
  EXPECT_THAT(*page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(*page, HasSubstr("&lt;/script&gt;"));
}

TEST(Page, AsksTheNetworkForNothing) {
  auto const page = page_of({.title = "x", .made_by = "x", .result = {{"lanewise", "a/1"}}});
  if (!page) GTEST_SKIP() << "built without d3";
  EXPECT_THAT(*page, HasSubstr("default-src 'none'"));
  for (auto const* attribute : {" src=", "href=\"http", "url(http", "@import"})
    EXPECT_EQ(count_of(*page, attribute), 0U);
}

TEST(Page, CarriesTheLicenceOfD3) {
  auto const page = page_of({.title = "x", .made_by = "x", .result = {{"lanewise", "a/1"}}});
  if (!page) GTEST_SKIP() << "built without d3";
  EXPECT_THAT(*page, HasSubstr("Mike Bostock"));
}

}  // namespace
}  // namespace lanewise
