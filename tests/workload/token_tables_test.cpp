#include "core/workload/token_tables.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "core/workload/step_time.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

ComputeTable table_of(std::string const& text) {
  return read_compute_table(SourceText::from_memory("times.csv", text));
}

Workload workload_in(std::filesystem::path const& folder, std::string const& lines) {
  return *read_scenario(
              SourceText::from_memory(
                  (folder / "s.yaml").string(),
                  "lanewise: scenario/1\nscenario: s\nmachines: [hgx-h100]\nworkload:\n  mode: train\n" + lines))
              .workload;
}

TEST(ComputeTable, IsLinearInLogarithms) {
  auto const table = table_of("tokens,forward_us,backward_us\n4000, 400, 900  # the largest\n1000,100,200\n");
  EXPECT_DOUBLE_EQ(times_at(table, 1000)->forward.value(), 100e-6);
  // Twice the tokens of the first row, half of the way to four times: 100 us x sqrt(4), and 200 us x sqrt(4.5).
  EXPECT_NEAR(times_at(table, 2000)->forward.value(), 200e-6, 1e-12);
  EXPECT_NEAR(times_at(table, 2000)->backward->value(), 200e-6 * std::sqrt(4.5), 1e-12);
  EXPECT_FALSE(times_at(table, 999));
  EXPECT_FALSE(times_at(table, 4001));
  EXPECT_FALSE(times_at(table_of("tokens,forward_us\n8,1\n"), 8)->backward);
}

TEST(ComputeTable, PointsAtTheLineThatIsWrong) {
  auto const error = [](std::string const& text) { return test::input_error([&] { table_of(text); }); };
  EXPECT_THAT(error("tokens;forward\n"), HasSubstr("times.csv:1:1: error: the header is"));
  EXPECT_THAT(error("tokens,forward_us\n1,2,3\n"), HasSubstr(":2:1: error: 3 cells; the header has 2"));
  EXPECT_THAT(error("tokens,forward_us\n1,0\n"), HasSubstr("'0' is no number above 0"));
  EXPECT_THAT(error("tokens,forward_us\n1,nan\n"), HasSubstr("'nan' is no number above 0"));
  EXPECT_THAT(error("tokens,forward_us\n1,2\n1,3\n"), HasSubstr("two rows of 1 tokens"));
  EXPECT_THAT(error("tokens,forward_us\n"), HasSubstr("needs a header and a row"));
}

TEST(ComputeTable, IsSoughtBesideTheScenario) {
  test::TemporaryFolder const folder;
  static_cast<void>(folder.with("times.csv", "tokens,forward_us,backward_us\n4096,1000,2000\n16384,4000,8000\n"));
  std::string const lines = "  model: llama-3.1-8b\n  parallel: {tp: 8}\n  compute: {table: times.csv}\n  batch: ";
  auto const workload = workload_in(folder.path(), lines + "{global: 4, sequence: 8192}\n");
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto const step = step_time(workload, model, model);
  EXPECT_NEAR(step.computing.value(), 4 * (2e-3 + 4e-3), 1e-9);  // 8192 tokens: twice the first row
  EXPECT_EQ(step.computing_by, "table times.csv");
  auto const error = [&](std::string const& all) {
    return test::input_error([&] { workload_in(folder.path(), all); });
  };
  EXPECT_THAT(error(lines + "{global: 4, sequence: 2048}\n"),
              HasSubstr("a micro-batch has 2048 tokens, and times.csv is about 4096 to 16384"));
  EXPECT_THAT(error("  model: llama-3.1-8b\n  batch: {global: 1, sequence: 8192}\n  compute: {table: no.csv}\n"),
              HasSubstr("there is no file 'no.csv', neither beside the scenario"));
}

// Mixtral's eight experts on four ranks: 10 + 30, 20 + 20, 5 + 15 and 0 + 20 of 120 tokens; the mean is 30.
TEST(ExpertTokens, AreSummedOverTheExpertsOfARank) {
  ExpertRouting routing;
  routing.tokens_per_expert = {10, 30, 20, 20, 5, 15, 0, 20};
  EXPECT_DOUBLE_EQ(imbalance_of(routing, 4), 40.0 / 30);
  EXPECT_DOUBLE_EQ(imbalance_of(routing, 8), 30.0 / 15);
  EXPECT_DOUBLE_EQ(imbalance_of(routing, 1), 1);
  routing.tokens_per_expert.clear();
  routing.imbalance = 1.5;
  EXPECT_DOUBLE_EQ(imbalance_of(routing, 4), 1.5);
}

TEST(ExpertTokens, MakeMessagesLarger) {
  test::TemporaryFolder const folder;
  static_cast<void>(folder.with("tokens.json", "[10, 30, 20, 20,\n 5, 15, 0, 20]\n"));
  std::string const lines =
      "  model: mixtral-8x7b\n  parallel: {dp: 4, ep: 4}\n  batch: {global: 4, sequence: 4096}\n  routing: ";
  auto const dispatched = [&](std::string const& routing) {
    for (auto const& pattern : traffic_of(workload_in(folder.path(), lines + routing + "\n")))
      if (pattern.id == "ep-dispatch") return pattern.bytes;
    return Bytes(0);
  };
  // 4096 tokens, two experts each, 4096 elements of 2 B, and 4/3 of that.
  EXPECT_EQ(dispatched("uniform"), Bytes(4096LL * 2 * 4096 * 2));
  EXPECT_EQ(dispatched("{tokens_per_expert: tokens.json}"), Bytes((4096LL * 2 * 4096 * 2 * 4 + 2) / 3));
  EXPECT_EQ(dispatched("{tokens_per_expert: [10, 30, 20, 20, 5, 15, 0, 20]}"),
            dispatched("{tokens_per_expert: tokens.json}"));
  auto const error = [&](std::string const& routing) {
    return test::input_error([&] { workload_in(folder.path(), lines + routing + "\n"); });
  };
  EXPECT_THAT(error("{tokens_per_expert: [1, 2]}"), HasSubstr("2 numbers, and mixtral-8x7b has 8 experts"));
  EXPECT_THAT(error("{tokens_per_expert: [0, 0, 0, 0, 0, 0, 0, 0]}"), HasSubstr("no expert got a token"));
  EXPECT_THAT(error("{tokens_per_expert: [1, x]}"), HasSubstr("a number of tokens is needed for each expert"));
  EXPECT_THAT(error("{tokens_per_expert: [1, 2], imbalance: 2}"), HasSubstr("say the same; give one"));
  static_cast<void>(folder.with("wrong.csv", "1, 2\n3, many\n"));
  EXPECT_THAT(error("{tokens_per_expert: wrong.csv}"), HasSubstr("wrong.csv:2:4: error: 'many' is no number"));
}

}  // namespace
}  // namespace lanewise
