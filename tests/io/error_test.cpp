#include "lanewise/io/error.hpp"

#include <gtest/gtest.h>

#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

TEST(InputError, ShowsTheLineWithACaret) {
  InputError const error({{{"m.yaml", 12, 7}, "unknown unit 'parsecs'", "link: gen9 x16"}});
  EXPECT_STREQ(error.what(),
               "m.yaml:12:7: error: unknown unit 'parsecs'\n"
               "  link: gen9 x16\n"
               "        ^");
}

TEST(InputError, ATabBeforeTheCaretStaysATab) {
  InputError const error({{{"f", 1, 2}, "no", "\tx"}});
  EXPECT_STREQ(error.what(), "f:1:2: error: no\n  \tx\n  \t^");
}

TEST(InputError, SpeaksOfAWholeFileWithoutALine) {
  EXPECT_STREQ(InputError({{{"f", 0, 0}, "the file is empty", ""}}).what(), "f: error: the file is empty");
}

TEST(InputError, DoesNotRepeatAnEndlessLine) {
  EXPECT_STREQ(InputError({{{"f", 1, 400}, "no", std::string(500, 'x')}}).what(), "f:1:400: error: no");
}

TEST(Diagnostics, ComeInFileOrder) {
  Diagnostics found;
  found.add({"f", 3, 1}, "third");
  found.add({"f", 1, 9}, "second");
  found.add({"f", 1, 2}, "first");
  EXPECT_EQ(test::input_error([&] { found.throw_if_any(); }),
            "f:1:2: error: first\nf:1:9: error: second\nf:3:1: error: third");
}

TEST(Diagnostics, FurtherOnesAreCounted) {
  Diagnostics found;
  for (int i = 1; i <= 53; ++i) found.add({"f", i, 1}, "bad");
  try {
    found.throw_if_any();
    FAIL();
  } catch (InputError const& error) {
    ASSERT_EQ(error.diagnostics().size(), 51U);
    EXPECT_EQ(error.diagnostics().back().message, "and 3 more errors");
  }
}

TEST(Diagnostics, NothingWrongThrowsNothing) { EXPECT_NO_THROW(Diagnostics().throw_if_any()); }

}  // namespace
}  // namespace lanewise
