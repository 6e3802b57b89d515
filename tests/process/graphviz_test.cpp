#include "process/graphviz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/io/error.hpp"
#include "process/process.hpp"

namespace lanewise {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class Graphviz : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("dot")) GTEST_SKIP() << "needs the program dot (package graphviz)";
  }
};

TEST_F(Graphviz, DrawsAGraph) {
  EXPECT_THAT(svg_of("graph g { gpu0 -- gpu1 }"), AllOf(HasSubstr("<svg"), HasSubstr("gpu1"), EndsWith("</svg>\n")));
}

TEST_F(Graphviz, SaysWhyAGraphCannotBeDrawn) {
  try {
    static_cast<void>(svg_of("graph g { gpu0 -- "));
    FAIL() << "a graph that is cut off was drawn";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'dot' could not draw"), HasSubstr("syntax error")));
  }
}

}  // namespace
}  // namespace lanewise
