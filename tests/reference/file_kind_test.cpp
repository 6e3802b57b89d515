#include "core/reference/file_kind.hpp"

#include <gtest/gtest.h>

namespace lanewise {
namespace {

std::optional<FileKind> kind_of(std::string const& text) { return file_kind(SourceText::from_memory("f.yaml", text)); }

TEST(FileKind, IsWhatTheFirstKeySays) {
  EXPECT_EQ(kind_of("lanewise: machine/1\nmachine: m\n"), FileKind::Machine);
  EXPECT_EQ(kind_of("# see scenario/1\n---\n\nlanewise: cluster/1\n"), FileKind::Cluster);
  EXPECT_EQ(kind_of("lanewise:   'scenario/1'\n"), FileKind::Scenario);
  EXPECT_EQ(kind_of("\n{\n  \"lanewise\": \"part/1\"\n}"), FileKind::Part);
  EXPECT_EQ(kind_of("lanewise: machine/7\n"), FileKind::Machine) << "its reader refuses the version";
}

TEST(FileKind, IsUnknownOfOtherFiles) {
  EXPECT_EQ(kind_of(""), std::nullopt);
  EXPECT_EQ(kind_of("# nothing\n"), std::nullopt);
  EXPECT_EQ(kind_of("services:\n  lanewise: machine/1\n"), std::nullopt);
  EXPECT_EQ(kind_of("lanewise: plan/2\n"), std::nullopt);
  EXPECT_EQ(kind_of("lanewise\n"), std::nullopt);
}

}  // namespace
}  // namespace lanewise
