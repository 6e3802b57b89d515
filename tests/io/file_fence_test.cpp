#include "core/io/file_fence.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace lanewise
