#include "core/io/file_fence.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lanewise/io/file.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

TEST(FileFence, IsGoneWithItsScope) {
  test::TemporaryFolder const inside;
  test::TemporaryFolder const outside;
  write_file(outside.path() / "a", "text");
  {
    FileFence const fence({inside.path()});
    EXPECT_THAT(test::input_error([&] { read_file(outside.path() / "a"); }), HasSubstr("outside the folders"));
    EXPECT_THAT(test::input_error([&] { read_file(outside.path() / "none"); }), HasSubstr("outside the folders"));
    EXPECT_THAT(test::input_error([&] { read_file(inside.path() / ".." / outside.path().filename() / "a"); }),
                HasSubstr("outside the folders"));
    write_file(inside.path() / "b", "text");
  }
  EXPECT_EQ(read_file(outside.path() / "a"), "text");
}

// A link may lead to a file that is not there yet.
TEST(FileFence, LinksThatLeadNowhereAreOutside) {
  test::TemporaryFolder const inside;
  test::TemporaryFolder const outside;
  std::filesystem::create_symlink(outside.path() / "new", inside.path() / "link");
  FileFence const fence({inside.path()});
  EXPECT_THAT(test::input_error([&] { write_file(inside.path() / "link", "text"); }), HasSubstr("outside the folders"));
  EXPECT_FALSE(std::filesystem::exists(outside.path() / "new"));
}

// What a file is written to first is never one that was there.
TEST(FileFence, LinksInTheWayOfATemporaryFileAreNotFollowed) {
  test::TemporaryFolder const inside;
  test::TemporaryFolder const outside;
  auto const theirs = outside.with("theirs", "theirs");
  for (int i = 0; i < 20; ++i)
    std::filesystem::create_symlink(theirs, inside.path() / ("a." + std::to_string(i) + ".partial"));
  FileFence const fence({inside.path()});
  write_file(inside.path() / "a", "text");
  EXPECT_EQ(read_file(inside.path() / "a"), "text");
  std::ifstream in(theirs);
  std::string text;
  in >> text;
  EXPECT_EQ(text, "theirs");
}

}  // namespace
}  // namespace lanewise
