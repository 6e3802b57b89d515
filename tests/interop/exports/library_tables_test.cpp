#include "core/interop/exports/library_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {
namespace {

Model model_of(std::string const& name) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return Model(catalogue.machine(name));
}

// The fields of the lines that are no comments.
std::vector<std::vector<std::string>> fields_of(std::string const& table) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    auto& fields = lines.emplace_back();
    for (std::string word; std::getline(words, word, ',');) fields.push_back(word);
  }
  return lines;
}

// The plugin takes the first line that fits: the ranges of each collective must hold every size once.
TEST(NcclTunerTable, HoldsEverySizeOnce) {
  std::map<std::string, long long> next;
  for (auto const& fields : fields_of(nccl_tuner_table(model_of("hgx-h100"), Library{}))) {
    ASSERT_EQ(fields.size(), 10U);
    auto& from = next[fields[0]];
    EXPECT_EQ(std::stoll(fields[1]), from) << fields[0];
    EXPECT_GE(std::stoll(fields[2]), from);
    from = std::stoll(fields[2]) + 1;
    EXPECT_THAT(fields[3], testing::AnyOf("ring", "tree", "nvls", "nvls_tree"));
    EXPECT_THAT(fields[4], testing::AnyOf("ll", "ll128", "simple"));
    EXPECT_EQ(fields[6], "1");
    EXPECT_EQ(fields[7], "8");
  }
  EXPECT_EQ(next.size(), 5U);
  for (auto const& [collective, after] : next) EXPECT_EQ(after, 4294967296) << collective;
}

TEST(NcclTunerTable, OfOtherGpusSaysWhy) {
  EXPECT_THROW(nccl_tuner_table(model_of("mi300x-x8"), Library{}), PlanError);
}

TEST(Thresholds, AreBelowWhatIsExpected) {
  auto const json = thresholds_json(model_of("dgx-a100"), Library{LibraryKind::Nccl, 2, 27});
  EXPECT_EQ(json["lanewise"], "thresholds/1");
  EXPECT_EQ(json["library"], "nccl-2.27");
  EXPECT_EQ(json["ranks"], 8);
  EXPECT_EQ(json["nccl_tests"].size(), 5U * 5U);
  EXPECT_EQ(json["nvbandwidth"].size(), 2U * 8 + 8 * 7);
  for (auto const* part : {"nccl_tests", "nvbandwidth"})
    for (auto const& row : json[part]) {
      EXPECT_GT(row["at_least_GBps"].get<double>(), 0);
      EXPECT_LT(row["at_least_GBps"].get<double>(), row["expected_GBps"].get<double>());
    }
}

}  // namespace
}  // namespace lanewise
