#include "process/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "lanewise/io/error.hpp"
#include "process/process.hpp"
#include "process/shell_word.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// Sets TMPDIR for its lifetime.
class TemporariesIn {
 public:
  explicit TemporariesIn(std::string const& folder) {
    if (auto const* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder.c_str(), 1);
  }
  TemporariesIn(TemporariesIn const&) = delete;
  TemporariesIn& operator=(TemporariesIn const&) = delete;
  ~TemporariesIn() { before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR"); }

 private:
  std::optional<std::string> before_;
};

std::string why_missing() {
  try {
    TemporaryFolder const folder("test");
  } catch (MissingError const& error) {
    return error.what();
  }
  return "";
}

TEST(TemporaryFolder, IsRemovedWithWhatIsInIt) {
  test::TemporaryFolder const above;
  TemporariesIn const here(above.path());
  {
    TemporaryFolder const folder("test");
    EXPECT_EQ(folder.path().parent_path(), above.path());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    std::ofstream(folder.path() / "file") << "text";
  }
  EXPECT_THAT(above.names(), testing::IsEmpty());
}

TEST(TemporaryFolder, WithoutAPlaceForItSaysWhichToChange) {
  TemporariesIn const here("/nonexistent/folder");
  EXPECT_THAT(why_missing(), HasSubstr("/nonexistent/folder: No such file or directory; set TMPDIR"));
}

TEST(TemporaryFolder, OnAFullFileSystemSaysSo) {
  test::TemporaryFolder const mount;
  auto const command = "mount -t tmpfs -o size=16k tmpfs " + shell_word(mount.path().string()) +
                       " && dd if=/dev/zero of=" + shell_word((mount.path() / "fill").string()) + " bs=16k count=1";
  if (run_program({"sh", "-c", command}, 20s).code != 0) GTEST_SKIP() << "only root may mount a small file system";
  {
    TemporariesIn const here(mount.path());
    EXPECT_THAT(why_missing(), HasSubstr("No space left on device; set TMPDIR"));
    EXPECT_THAT(mount.names(), testing::ElementsAre("fill"));
  }
  run_program({"umount", mount.path().string()}, 20s);
}

TEST(ShellWord, IsReadBackByAShell) {
  EXPECT_EQ(shell_word("/usr/bin/x86_64-1.2"), "/usr/bin/x86_64-1.2");
  for (auto const* word : {"", "two words", "it's", "'", "$HOME `id` \"x\" \\", "a\nb", "*", "~"})
    EXPECT_EQ(run_program({"sh", "-c", std::string("printf %s ") + shell_word(word)}, 20s).output, word);
}

}  // namespace
}  // namespace lanewise
