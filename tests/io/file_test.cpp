#include "core/io/file.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

bool is_text(std::string const& bytes) {
  try {
    SourceText::from_memory("file", bytes);
    return true;
  } catch (InputError const&) {
    return false;
  }
}

TEST(SourceText, AcceptsUtf8) {
  EXPECT_TRUE(is_text("plain\ttext\r\n"));
  EXPECT_TRUE(is_text("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xED\x9F\xBF \xEE\x80\x80 \xF4\x8F\xBF\xBF"));
}

TEST(SourceText, RefusesWhatIsNotUtf8) {
  EXPECT_FALSE(is_text("\xff")) << "no lead byte";
  EXPECT_FALSE(is_text("\xE2\x82")) << "cut off";
  EXPECT_FALSE(is_text("\xC0\xAF")) << "two bytes for one";
  EXPECT_FALSE(is_text("\xE0\x80\xAF")) << "three bytes for one";
  EXPECT_FALSE(is_text("\xED\xBB\xBF")) << "a surrogate";
  EXPECT_FALSE(is_text("\xF0\x80\x80\xAF")) << "four bytes for one";
  EXPECT_FALSE(is_text("\xF4\x90\x80\x80")) << "above U+10FFFF";
  EXPECT_FALSE(is_text(std::string("a\0b", 3)));
  EXPECT_FALSE(is_text("\x1b[4m"));
}

TEST(TerminalCodes, AreTakenOut) {
  EXPECT_EQ(without_terminal_codes("\x1b[4mGPU0\x1b[0m \x1b[1;31mred\x1b[m"), "GPU0 red");
  EXPECT_EQ(without_terminal_codes("cut \x1b[4"), "cut ");
  EXPECT_EQ(without_terminal_codes("plain"), "plain");
}

}  // namespace
}  // namespace lanewise
