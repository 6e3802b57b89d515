// Tables of nccl-tests whose cause is known (library_cases.json): judge must name it, and nothing where the machine is
// healthy.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/diagnosis/diagnosis.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

Catalogue& all_bundled() {
  static Catalogue all = bundled();
  return all;
}

// `cause`: the subject of the true hypothesis, or its kind where that is of the whole machine; empty: healthy.
std::vector<nlohmann::json> cases(bool healthy) {
  std::vector<nlohmann::json> found;
  for (auto const& one :
       nlohmann::json::parse(std::ifstream(LANEWISE_SOURCE_DIR "/tests/diagnosis/library_cases.json")))
    if (one.at("cause").get<std::string>().empty() == healthy) found.push_back(one);
  return found;
}

Diagnosis diagnosis_of(nlohmann::json const& one) {
  Measurement m;
  m.name = one.at("name");
  m.machine = one.at("machine");
  for (std::string const text : one.at("settings")) m.settings.push_back(parse_setting(text));
  bool const is_time = one.at("unit") == "us";
  MeasuredSeries series;
  series.name = "collective";
  series.quantity = is_time ? MeasuredQuantity::Makespan : MeasuredQuantity::Bandwidth;
  series.collective = MeasuredCollective{parse_collective_op(one.at("op").get<std::string>()).value.value(),
                                         expand_range(one.at("among").get<std::string>()),
                                         parse_library(one.at("library").get<std::string>()).value.value(),
                                         is_time ? CollectiveFigure::Time : CollectiveFigure::BusBandwidth};
  for (auto const& row : one.at("rows"))
    series.points.push_back({{}, Bytes(row.at(0)), {}, row.at(1).get<double>() * (is_time ? 1e-6 : 1e9), {}, {}});
  m.series = {series};
  AccuracyContext const context{.machine = [&](Measurement const&) { return all_bundled().machine(m.machine); },
                                .executor = [](Model const&) { return std::unique_ptr<Executor>(); },
                                .catalogue = all_bundled()};
  return diagnose(m, context);
}

// Subjects in the order in which they are named; a cause of the whole machine has none: its kind tells it.
std::vector<std::string> named_by(Diagnosis const& diagnosis) {
  std::vector<std::string> named;
  auto const note = [&](Hypothesis const& what) {
    named.push_back(what.subject.empty() ? std::string(to_string(what.kind)) : what.subject);
  };
  for (auto const& cause : diagnosis.causes) {
    note(cause.what);
    for (auto const& also : cause.also) note(also);
  }
  return named;
}

// How often the true cause is the first that is named, and how often it is among the first three.
TEST(LibraryCauses, AreNamedFirstInMostCases) {
  auto const spoiled = cases(false);
  std::size_t first = 0;
  std::size_t among_three = 0;
  std::size_t passing = 0;  // slower, but within the range
  for (auto const& one : spoiled) {
    auto const diagnosis = diagnosis_of(one);
    auto const named = named_by(diagnosis);
    auto const at = static_cast<std::size_t>(std::find(named.begin(), named.end(), one.at("cause").get<std::string>()) -
                                             named.begin());
    first += at == 0 && !named.empty() ? 1 : 0;
    among_three += at < std::min<std::size_t>(3, named.size()) ? 1 : 0;
    passing += diagnosis.worst() == Grade::Pass ? 1 : 0;
    std::string list;
    for (auto const& name : named) list += name + " ";
    fmt::print("{}: {}\n", diagnosis.measurement, named.empty() ? "no cause named" : list);
  }
  fmt::print("{} of {} first, {} among the first three\n", first, spoiled.size(), among_three);
  EXPECT_GE(first * 100, spoiled.size() * 75);
  EXPECT_GE(among_three * 100, spoiled.size() * 80);
  EXPECT_LE(passing, 1U);
}

TEST(LibraryCauses, NothingIsWrongWithHealthyTables) {
  std::size_t rows = 0;
  std::size_t passed = 0;
  for (auto const& one : cases(true)) {
    auto const diagnosis = diagnosis_of(one);
    rows += diagnosis.points.size();
    passed += diagnosis.count(Grade::Pass);
    EXPECT_EQ(diagnosis.count(Grade::Fail), 0U) << diagnosis.measurement;
    EXPECT_THAT(named_by(diagnosis), testing::IsEmpty()) << diagnosis.measurement;
    for (auto const& point : diagnosis.points)
      if (point.grade != Grade::Pass)
        fmt::print("{} {}: measured {:.4g}, predicted {:.4g}\n", diagnosis.measurement, point.result.bytes.value(),
                   point.result.measured, point.result.predicted.value_or(0));
  }
  fmt::print("{} of {} rows of healthy tables pass\n", passed, rows);
  EXPECT_GE(passed * 100, rows * 90);
}

}  // namespace
}  // namespace lanewise::test
