#include "lanewise/io/file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using test::input_error;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal_of(std::string text) {
  return input_error([&] { SourceText::from_memory("f", std::move(text)); });
}

TEST(SourceText, KnowsItsLines) {
  auto const source = SourceText::from_memory("f", "one\r\ntwo\n\nfour");
  EXPECT_EQ(source.line_count(), 4);
  EXPECT_EQ(source.line(1), "one");
  EXPECT_EQ(source.line(2), "two");
  EXPECT_EQ(source.line(3), "");
  EXPECT_EQ(source.line(4), "four");
  EXPECT_EQ(source.line(0), "");
  EXPECT_EQ(source.line(5), "");
}

TEST(SourceText, PositionsCountFromOne) {
  auto const source = SourceText::from_memory("f", "ab\ncd");
  EXPECT_EQ(source.position(0), (SourcePos{"f", 1, 1}));
  EXPECT_EQ(source.position(1), (SourcePos{"f", 1, 2}));
  EXPECT_EQ(source.position(2), (SourcePos{"f", 1, 3}));
  EXPECT_EQ(source.position(3), (SourcePos{"f", 2, 1}));
  EXPECT_EQ(source.position(5), (SourcePos{"f", 2, 3}));
}

TEST(SourceText, AByteOrderMarkIsNoPartOfTheText) {
  EXPECT_EQ(SourceText::from_memory("f", "\xEF\xBB\xBFkey: 1").text(), "key: 1");
}

TEST(SourceText, AcceptsUtf8) {
  std::string const text = "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\t";
  EXPECT_EQ(SourceText::from_memory("f", text).text(), text);
}

TEST(SourceText, BinaryIsRefusedWhereItBegins) {
  EXPECT_THAT(refusal_of(std::string("ok\nab\0c", 7)), AllOf(StartsWith("f:2:3: error: "), HasSubstr("byte 0x00")));
  EXPECT_THAT(refusal_of("\x7f"
                         "ELF\x02\x01"),
              AllOf(StartsWith("f:1:5: "), HasSubstr("byte 0x02")));
  EXPECT_THAT(refusal_of("\x1b[31m"), HasSubstr("byte 0x1b"));
}

TEST(SourceText, InvalidUtf8IsRefused) {
  EXPECT_THAT(refusal_of("a\xFF"), StartsWith("f:1:2: "));              // never a lead byte
  EXPECT_THAT(refusal_of("a\xC3"), StartsWith("f:1:2: "));              // cut off
  EXPECT_THAT(refusal_of("a\xC3("), StartsWith("f:1:2: "));             // no continuation
  EXPECT_THAT(refusal_of("a\x80"), StartsWith("f:1:2: "));              // continuation alone
  EXPECT_THAT(refusal_of("a\xC0\xAF"), StartsWith("f:1:2: "));          // overlong '/'
  EXPECT_THAT(refusal_of("a\xE0\x80\xAF"), StartsWith("f:1:2: "));      // overlong in three bytes
  EXPECT_THAT(refusal_of("a\xED\xA0\x80"), StartsWith("f:1:2: "));      // half a surrogate pair
  EXPECT_THAT(refusal_of("a\xF0\x80\x80\xAF"), StartsWith("f:1:2: "));  // overlong in four bytes
  EXPECT_THAT(refusal_of("a\xF4\x90\x80\x80"), StartsWith("f:1:2: "));  // beyond U+10FFFF
  EXPECT_THAT(refusal_of("a\xF5\x80\x80\x80"), StartsWith("f:1:2: "));  // beyond U+10FFFF
}

TEST(SourceText, SixteenMebibytesAreTheMost) {
  std::string text(SourceText::kMaxBytes, 'x');
  EXPECT_EQ(SourceText::from_memory("f", text).text().size(), std::size_t{16} << 20);
  text += 'x';
  EXPECT_THAT(refusal_of(text), HasSubstr("larger than 16 MiB"));
}

TEST(SourceText, AFileIsNotReadBeyondTheLimit) {
  test::TemporaryFolder const folder;
  auto const file = folder.with("huge", "");
  ASSERT_EQ(truncate(file.c_str(), off_t{1} << 40), 0);  // sparse: a terabyte that is not there
  EXPECT_THAT(input_error([&] { SourceText::load(file); }), HasSubstr("larger than 16 MiB"));
}

TEST(SourceText, AMillionLinesAreTooMany) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "a\n";
  EXPECT_THAT(refusal_of(text), HasSubstr("has 1000001 lines; at most 800000 are read"));
}

TEST(SourceText, WhatCannotBeReadSaysWhy) {
  test::TemporaryFolder const folder;
  EXPECT_THAT(input_error([&] { SourceText::load(folder.path() / "absent.yaml"); }),
              HasSubstr("absent.yaml: error: no such file"));
  EXPECT_THAT(input_error([&] { SourceText::load(folder.path()); }), HasSubstr("is a folder"));
  auto const file = folder.with("plain", "text");
  EXPECT_THAT(input_error([&] { SourceText::load(file / "below"); }), HasSubstr("no such file"));
}

TEST(SourceText, AForbiddenFileSaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  test::TemporaryFolder const folder;
  auto const file = folder.with("secret", "text");
  chmod(file.c_str(), 0);
  EXPECT_THAT(input_error([&] { SourceText::load(file); }), HasSubstr("cannot be read: Permission denied"));
}

TEST(SourceText, AFileThatFailsWhileReadIsNotAnEmptyOne) {
  // Nothing is mapped at address 0: reading there fails with EIO.
  EXPECT_THAT(input_error([&] { SourceText::load("/proc/self/mem"); }), HasSubstr("cannot be read"));
}

TEST(WriteFile, LeavesNothingBesideTheFile) {
  test::TemporaryFolder const folder;
  write_file(folder.path() / "out.json", "first");
  write_file(folder.path() / "out.json", "second");
  EXPECT_THAT(folder.names(), ElementsAre("out.json"));
  EXPECT_EQ(SourceText::load(folder.path() / "out.json").text(), "second");
}

TEST(WriteFile, WhatCannotBeWrittenChangesNothing) {
  test::TemporaryFolder const folder;
  EXPECT_THAT(input_error([&] { write_file(folder.path() / "absent/out.json", "x"); }),
              HasSubstr("absent/out.json: error: cannot be written"));
  auto const taken = folder.with("taken/inner", "kept").parent_path();
  EXPECT_THAT(input_error([&] { write_file(taken, "x"); }), HasSubstr("taken: error: cannot be written"));
  EXPECT_THAT(folder.names(), ElementsAre("taken"));
  EXPECT_EQ(SourceText::load(taken / "inner").text(), "kept");
}

TEST(WriteFile, AFolderWithoutPermissionSaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  test::TemporaryFolder const folder;
  auto const closed = folder.with("closed/inner", "").parent_path();
  chmod(closed.c_str(), 0555);
  EXPECT_THAT(input_error([&] { write_file(closed / "out", "x"); }), HasSubstr("Permission denied"));
  chmod(closed.c_str(), 0755);
}

TEST(WriteFile, WhatIsNoPlainFileIsWrittenToAndNotReplaced) {  // -o /dev/stdout, -o /dev/null
  test::TemporaryFolder const folder;
  auto const pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int const reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(pipe, "through");
  std::array<char, 16> buffer{};
  auto const count = read(reader, buffer.data(), buffer.size());
  close(reader);
  EXPECT_EQ(std::string(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0), "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_THAT(folder.names(), ElementsAre("pipe"));
}

TEST(WriteFile, ALinkKeepsPointingToTheFileThatIsWritten) {
  test::TemporaryFolder const folder;
  auto const file = folder.with("file", "old");
  std::filesystem::create_symlink(file, folder.path() / "link");
  write_file(folder.path() / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
  EXPECT_EQ(SourceText::load(file).text(), "new");
}

TEST(TerminalCodes, AreTakenOut) {
  EXPECT_EQ(without_terminal_codes("\x1b[4mGPU0\x1b[0m \x1b[1;31mred\x1b[m"), "GPU0 red");
  EXPECT_EQ(without_terminal_codes("cut \x1b[4"), "cut ");
  EXPECT_EQ(without_terminal_codes("plain"), "plain");
}

}  // namespace
}  // namespace lanewise
