// Tests the table of formats: each is recognised by content alone, and no text belongs to two.
#include "core/interop/formats/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace lanewise {
namespace {

using testing::HasSubstr;

std::string recognised(std::string_view text) {
  auto const* format = recognise_format(text);
  return format == nullptr ? "" : std::string(format->name);
}

TEST(Formats, AreRecognisedByContent) {
  EXPECT_EQ(recognised("<system version=\"1\"><cpu numaid=\"0\"/></system>"), "nccl");
  EXPECT_EQ(recognised("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n"), "topo-m");
  EXPECT_EQ(recognised("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n"), "topo-m");
  EXPECT_EQ(recognised("# OSU MPI Bandwidth Test v5.9\n# Size Bandwidth (MB/s)\n"), "osu");
  EXPECT_EQ(recognised(""), "");
  EXPECT_EQ(recognised("Dear diary,\n"), "");
}

TEST(Formats, EachRowHasWhatItsKindNeeds) {
  std::set<std::string_view> names;
  for (auto const& format : formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_NE(format.name, "auto");
    EXPECT_FALSE(format.about.empty()) << format.name;
    EXPECT_EQ(format.kind == FormatKind::Measurement, format.benchmark.has_value()) << format.name;
    if (format.kind == FormatKind::Machine) {
      EXPECT_NE(format.recognise, nullptr) << format.name;
      EXPECT_TRUE(format.read != nullptr || format.read_facts != nullptr) << format.name;
    }
  }
}

TEST(Formats, AnUnknownTextListsTheKnownOnes) {
  auto const source = SourceText::from_memory("diary.txt", "Dear diary,\n");
  try {
    recognised_format(source);
    FAIL() << "recognised";
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("diary.txt: nothing in it says which format it has"));
    for (auto const& format : formats()) EXPECT_THAT(error.what(), HasSubstr(format.name));
  }
}

}  // namespace
}  // namespace lanewise
