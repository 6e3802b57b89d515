#include "core/view/catalogue/catalogue_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/catalogue/part_text.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

auto named(std::string const& name) { return Field("name", &CatalogueEntry::name, name); }

TEST(CatalogueList, FindsByNameAndByTitleWhateverTheCase) {
  auto catalogue = test::bundled();
  EXPECT_THAT(list_machines(catalogue, "HGX-B2"), Contains(named("hgx-b200")));
  EXPECT_THAT(list_parts(catalogue, "xeon 698"), Contains(named("xeon-6980p")));
  EXPECT_THAT(list_parts(catalogue, "nvidia*b300"), Contains(named("b300-sxm-288g")));
  EXPECT_THAT(list_machines(catalogue, "no such thing"), IsEmpty());
}

TEST(CatalogueList, SaysWhatAMachineIsMadeOfAndHowNewItIs) {
  auto catalogue = test::bundled();
  auto const machines = list_machines(catalogue, "hgx-b200");
  ASSERT_FALSE(machines.empty());
  EXPECT_THAT(machines.front().figures, AllOf(HasSubstr("8 x NVIDIA B200"), HasSubstr("8 x 400 Gb/s")));
  EXPECT_EQ(machines.front().year, 2024);
  auto const clusters = list_clusters(catalogue, "gb300-nvl72");
  ASSERT_FALSE(clusters.empty());
  EXPECT_THAT(clusters.front().figures, AllOf(HasSubstr("18 x gb300x4"), HasSubstr("72 GPUs")));
}

TEST(CatalogueList, PartsComeByKindWithTheirFigures) {
  auto catalogue = test::bundled();
  auto const parts = list_parts(catalogue, "");
  EXPECT_EQ(parts.size(), catalogue.part_names().size());
  EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end(), [](auto const& a, auto const& b) {
    auto const rank = [](std::string const& kind) { return kind == "cpu" ? 0 : kind == "gpu" ? 1 : 2; };
    return rank(a.kind) < rank(b.kind);
  }));
  auto const gpu =
      std::find_if(parts.begin(), parts.end(), [](auto const& one) { return one.name == "h200-sxm5-141g"; });
  ASSERT_NE(gpu, parts.end());
  EXPECT_THAT(gpu->figures,
              AllOf(HasSubstr("141 GiB"), HasSubstr("gen5 x16"), HasSubstr("NVLink x18"), HasSubstr("700 W")));
}

TEST(CatalogueList, AJsonEntryHasWhatTheLineHas) {
  auto const json = list_json({{"x", "gpu", 2025, "A GPU", "80 GiB"}, {"y", {}, {}, "A box", "8 x A GPU"}});
  EXPECT_EQ(json.dump(), R"([{"name":"x","kind":"gpu","year":2025,"title":"A GPU","key_figures":"80 GiB"},)"
                         R"({"name":"y","title":"A box","key_figures":"8 x A GPU"}])");
}

TEST(PartText, NamesKindAndSourceOfEachFigure) {
  auto catalogue = test::bundled();
  auto const text = part_text(*catalogue.part("b200-sxm-180g"));
  EXPECT_THAT(text, testing::ContainsRegex("memory_bandwidth +7.672 TB/s +measured +device query in pytorch"));
  EXPECT_THAT(text, testing::ContainsRegex("tags +256 +estimated"));
}

}  // namespace
}  // namespace lanewise
