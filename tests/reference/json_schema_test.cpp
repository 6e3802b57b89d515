#include "core/reference/json_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/reference/reference_text.hpp"
#include "core/view/catalogue/catalogue_page.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "lanewise/units/text.hpp"
#include "tests/reference/schema_validator.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

namespace fs = std::filesystem;

fs::path const kRoot = LANEWISE_SOURCE_DIR;

std::vector<fs::path> yaml_files(fs::path const& folder) {
  std::vector<fs::path> files;
  for (auto const& entry : fs::directory_iterator(kRoot / folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  return files;
}

std::vector<std::string> problems_of(FileKind kind, std::string const& text) {
  return schema_problems(json_schema(kind), parse_yaml(SourceText::from_memory("test.yaml", text)));
}

void expect_all_valid(FileKind kind, fs::path const& folder) {
  auto const schema = json_schema(kind);
  auto const files = yaml_files(folder);
  EXPECT_FALSE(files.empty());
  for (auto const& file : files)
    EXPECT_THAT(schema_problems(schema, parse_yaml(SourceText::load(file))), testing::IsEmpty()) << file;
}

TEST(JsonSchema, AcceptsEveryBundledMachine) { expect_all_valid(FileKind::Machine, "topologies/machines"); }
TEST(JsonSchema, AcceptsEveryBundledCluster) { expect_all_valid(FileKind::Cluster, "topologies/clusters"); }
TEST(JsonSchema, AcceptsEveryBundledPart) { expect_all_valid(FileKind::Part, "topologies/parts"); }
TEST(JsonSchema, AcceptsEveryBundledScenario) { expect_all_valid(FileKind::Scenario, "scenarios"); }
TEST(JsonSchema, AcceptsEveryBundledMeasurement) { expect_all_valid(FileKind::Measurement, "measurements/published"); }
TEST(JsonSchema, AcceptsACalibrationAndRefusesAWrongOne) {
  std::string const text =
      "lanewise: calibration/1\nmachine: m\nfingerprint: 00ff\nmeasurement: {name: a, digest: 01}\nvalues:\n"
      "  - {at: gpu0-gpu1, key: duplex, value: 0.9, low: 88 %, high: 0.92, points: 3, together_with: [a, b]}\n";
  EXPECT_THAT(problems_of(FileKind::Calibration, text), testing::IsEmpty());
  EXPECT_THAT(
      problems_of(FileKind::Calibration, text + "  - {part: p, key: dulpex, value: 1, low: 1, high: 1, points: 1}\n"),
      testing::Not(testing::IsEmpty()));
}

// A file that the reader refuses for its form is refused by the schema too.
struct Wrong {
  char const* name;
  char const* text;
};
std::ostream& operator<<(std::ostream& out, Wrong const& wrong) { return out << wrong.name; }

class WrongMachine : public testing::TestWithParam<Wrong> {};
TEST_P(WrongMachine, IsRefusedByReaderAndSchema) {
  Catalogue catalogue({kRoot / "topologies"});
  EXPECT_THROW(read_machine(SourceText::from_memory("test.yaml", GetParam().text), catalogue), InputError);
  EXPECT_THAT(problems_of(FileKind::Machine, GetParam().text), testing::Not(testing::IsEmpty()));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongMachine,
    testing::Values(
        Wrong{"schema_word", "{lanewise: machine/9, machine: m, sockets: [{socket: cpu0, part: unknown}]}"},
        Wrong{"name_missing", "{lanewise: machine/1, sockets: [{socket: cpu0, part: unknown}]}"},
        Wrong{"unknown_key", "{lanewise: machine/1, machine: m, sockets: [{socket: cpu0, part: unknown, gpus: 8}]}"},
        Wrong{"bad_name", "{lanewise: machine/1, machine: 'a b', sockets: [{socket: cpu0, part: unknown}]}"},
        Wrong{"negative_count",
              "{lanewise: machine/1, machine: m, sockets: [{socket: cpu0, part: unknown, numa: [{node: -1}]}]}"},
        Wrong{"size_without_unit",
              "{lanewise: machine/1, machine: m, settings: {iommu_page: 4096}, sockets: [{socket: cpu0, part: "
              "unknown}]}"},
        Wrong{"wrong_unit",
              "{lanewise: machine/1, machine: m, settings: {iommu_page: 4 GB/s}, sockets: [{socket: cpu0, part: "
              "unknown}]}"},
        Wrong{"acs_bit",
              "{lanewise: machine/1, machine: m, settings: {acs: [RR, QQ]}, sockets: [{socket: cpu0, part: unknown}]}"},
        Wrong{"iommu_word",
              "{lanewise: machine/1, machine: m, settings: {iommu: maybe}, sockets: [{socket: cpu0, part: unknown}]}"},
        Wrong{"link_in_a_nested_port",
              "{lanewise: machine/1, machine: m, sockets: [{socket: cpu0, part: unknown, pcie: [{root_port: rp0, "
              "switch: sw0, "
              "part: unknown, ports: [{gpu: gpu0, part: unknown, link: gen4 x5}]}]}]}"},
        Wrong{"inline_part_kind",
              "{lanewise: machine/1, machine: m, parts: {mine: {kind: cpux}}, sockets: [{socket: cpu0, part: mine}]}"},
        Wrong{"inline_part_key",
              "{lanewise: machine/1, machine: m, parts: {mine: {kind: cpu, memory: 4 GiB}}, sockets: [{socket: cpu0, "
              "part: mine}]}"},
        Wrong{"list_expected", "{lanewise: machine/1, machine: m, sockets: {socket: cpu0, part: unknown}}"}),
    [](auto const& test) { return test.param.name; });

class WrongScenario : public testing::TestWithParam<Wrong> {};
TEST_P(WrongScenario, IsRefusedByReaderAndSchema) {
  EXPECT_THROW(read_scenario(SourceText::from_memory("test.yaml", GetParam().text)), InputError);
  EXPECT_THAT(problems_of(FileKind::Scenario, GetParam().text), testing::Not(testing::IsEmpty()));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongScenario,
    testing::Values(
        Wrong{"collective_without_op",
              "{lanewise: scenario/1, scenario: s, collective: {among: [gpu0, gpu1], bytes: 4 MiB}}"},
        Wrong{"algorithm",
              "{lanewise: scenario/1, scenario: s, collective: {op: all_reduce, among: [gpu0, gpu1], bytes: 4 MiB, "
              "algorithm: rings}}"},
        Wrong{"objective",
              "{lanewise: scenario/1, scenario: s, objective: fast, transfers: [{id: a, from: gpu0, to: gpu1, bytes: 4 "
              "B}]}"},
        Wrong{"bare_bytes",
              "{lanewise: scenario/1, scenario: s, transfers: [{id: a, from: gpu0, to: gpu1, bytes: 4}]}"},
        Wrong{"negative_bytes",
              "{lanewise: scenario/1, scenario: s, transfers: [{id: a, from: gpu0, to: gpu1, bytes: -4 MiB}]}"},
        Wrong{"op",
              "{lanewise: scenario/1, scenario: s, transfers: [{id: a, from: gpu0, to: gpu1, bytes: 4 B, op: move}]}"},
        Wrong{"mechanism",
              "{lanewise: scenario/1, scenario: s, transfers: [{id: a, from: gpu0, to: gpu1, bytes: 4 B}], "
              "expect: [{mechanism: [pcie_p2p, warp]}]}"}),
    [](auto const& test) { return test.param.name; });

TEST(JsonSchema, TakesNumbersThatEditorsSeeAsNumbers) {
  EXPECT_THAT(problems_of(FileKind::Part, "{lanewise: part/1, kind: gpu, compute_capability: 8.0, copy_engines: 4}"),
              testing::IsEmpty());
  EXPECT_THAT(
      problems_of(FileKind::Part, "{lanewise: part/1, kind: link, duplex: 0.8, copy_efficiency: 94 %, generation: 4}"),
      testing::IsEmpty());
  EXPECT_THAT(
      problems_of(FileKind::Part, "{lanewise: part/1, kind: gpu, bar1: unknown, link: unknown, copy_engines: unknown}"),
      testing::IsEmpty());
}

TEST(JsonSchema, OfAPartNeedsTheSchemaWordOnlyInAFileOfItsOwn) {
  EXPECT_THAT(problems_of(FileKind::Part, "{kind: gpu}"), testing::SizeIs(1));
  EXPECT_THAT(problems_of(FileKind::Machine,
                          "{lanewise: machine/1, machine: m, parts: {mine: {kind: cpu}}, sockets: [{socket: cpu0, "
                          "part: mine}]}"),
              testing::IsEmpty());
}

// Every block of the document that begins a file.
std::vector<std::string> yaml_examples(fs::path const& document) {
  auto const text = SourceText::load(kRoot / document).text();
  std::vector<std::string> examples;
  constexpr std::string_view kFence = "```yaml\n";
  for (auto at = text.find(kFence); at != std::string::npos; at = text.find(kFence, at + 1)) {
    auto const begin = at + kFence.size();
    auto example = text.substr(begin, text.find("```", begin) - begin);
    if (example.find("\nlanewise: ") != std::string::npos) examples.push_back(std::move(example));
  }
  return examples;
}

TEST(DocumentedFiles, AreValid) {
  Catalogue catalogue({kRoot / "topologies"});
  auto const examples = yaml_examples("docs/machine-format.md");
  ASSERT_EQ(examples.size(), 2);
  EXPECT_NO_THROW(catalogue.machine_from(SourceText::from_memory("machine.yaml", examples[0])));
  EXPECT_NO_THROW(catalogue.machine_from(SourceText::from_memory("cluster.yaml", examples[1])));
  EXPECT_THAT(problems_of(FileKind::Machine, examples[0]), testing::IsEmpty());
  EXPECT_THAT(problems_of(FileKind::Cluster, examples[1]), testing::IsEmpty());
  auto const parts = yaml_examples("docs/parts.md");
  ASSERT_EQ(parts.size(), 1);
  EXPECT_THAT(problems_of(FileKind::Part, parts[0]), testing::IsEmpty());
}

// The pattern and the parser of each quantity agree.
template <class Parse>
void expect_agreement(std::string const& pattern, Parse parse) {
  std::regex const expression(pattern);
  for (auto const* number :
       {"4", "4.5", ".5", "5.", "0", "0.0", "1e3", "1e-3", "-1", "+1", "", "inf", "nan", "0x4", "1,5", "1 000"})
    for (auto const* space : {"", " ", "  "})
      for (auto const* unit :
           {"B", "KiB", "MB", "TB", "GB/s", "Gb/s", "GiB/s", "ns", "us", "s", "/s", "M/s", "%", "", "parsecs", "kib"}) {
        auto const text = std::string(number) + space + unit;
        auto const parsed = parse(text);
        bool const beyond_patterns = parsed.problem.find("whole number of bytes") != std::string::npos;
        EXPECT_EQ(std::regex_search(text, expression), parsed.value.has_value() || beyond_patterns)
            << "'" << text << "'";
      }
}

TEST(UnitPatterns, AcceptWhatTheParsersAccept) {
  expect_agreement(bytes_pattern(), parse_bytes);
  expect_agreement(rate_pattern(), parse_rate);
  expect_agreement(seconds_pattern(), parse_seconds);
  expect_agreement(frequency_pattern(), parse_frequency);
  expect_agreement(ratio_pattern(), parse_ratio);
}

// --------------------------------------------------------------------------------------------- files made from tables

void expect_current(fs::path const& file, std::string const& text) {
  auto const* update = std::getenv("LANEWISE_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") return write_file(kRoot / file, text);
  ASSERT_TRUE(fs::exists(kRoot / file)) << file << " is missing; LANEWISE_UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(SourceText::load(kRoot / file).text(), text) << "LANEWISE_UPDATE_GOLDEN=1 rewrites " << file;
}

TEST(ExportedFiles, AreCurrent) {
  for (auto const kind : kFileKinds) {
    auto const name = std::string(to_string(kind));
    expect_current("docs/schema/" + name + ".schema.json", json_schema(kind).dump(2) + "\n");
    expect_current("docs/keys/" + name + ".md", keys_text(kind));
  }
  expect_current("docs/rules.md", rules_text());
  auto catalogue = test::bundled();
  expect_current("docs/catalogue.md", catalogue_page(catalogue));
}

}  // namespace
}  // namespace lanewise::test
