#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "lanewise/io/file.hpp"

namespace lanewise::test {

void expect_golden(std::string const& name, std::string const& text) {
  auto const path = std::filesystem::path(LANEWISE_SOURCE_DIR) / "tests" / name;
  auto const* update = std::getenv("LANEWISE_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") return write_file(path, text);
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing; LANEWISE_UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(SourceText::load(path).text(), text) << "if this is meant, LANEWISE_UPDATE_GOLDEN=1 rewrites " << path;
}

}  // namespace lanewise::test
