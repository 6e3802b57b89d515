#include "core/io/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using test::expect_errors;
using test::input_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

YamlNode parsed(std::string text) { return parse_yaml(SourceText::from_memory("f", std::move(text))); }
std::string yaml_refusal(std::string text) {
  return input_error([&] { parsed(std::move(text)); });
}
void expect_refused(std::string_view marked, std::string const& message) {
  expect_errors(marked, {message}, [](SourceText const& source) { parse_yaml(source); });
}

// ------------------------------------------------------------------------------------------------------ plain trees

TEST(Yaml, ATreeKnowsItsPlaces) {
  auto const root = parsed("a: 1\nb:\n  - x\n  - {k: v}\n");
  ASSERT_EQ(root.kind, YamlKind::Map);
  EXPECT_EQ(root.entries[1].line, 2);
  EXPECT_EQ(root.entries[1].column, 1);
  auto const& list = *root.find("b");
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0].line, 3);
  EXPECT_EQ(list.items[0].column, 5);
  auto const& entry = list.items[1].entries.front();
  EXPECT_EQ(std::pair(entry.line, entry.column), std::pair(4, 6));
  EXPECT_EQ(std::pair(entry.value.line, entry.value.column), std::pair(4, 9));
}

TEST(Yaml, ScalarsStayTheTextTheyAre) {
  auto const root = parsed("{a: yes, b: 010, c: 1e3, d: 0x10, e: 12:30:45, f: .inf}");
  std::vector<std::string> texts;
  for (auto const& entry : root.entries) texts.push_back(entry.value.text);
  EXPECT_THAT(texts, ElementsAre("yes", "010", "1e3", "0x10", "12:30:45", ".inf"));
}

TEST(Yaml, NothingIsNullAndAQuotedNothingIsText) {
  auto const root = parsed("a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: \"~\"\n");
  std::vector<YamlKind> kinds;
  for (auto const& entry : root.entries) kinds.push_back(entry.value.kind);
  EXPECT_THAT(kinds, ElementsAre(YamlKind::Null, YamlKind::Null, YamlKind::Null, YamlKind::Scalar, YamlKind::Scalar,
                                 YamlKind::Scalar));
}

TEST(Yaml, JsonIsYaml) {
  auto const root = parsed(R"({"a": ["x", 1, true, null], "b": "line\nbreak \u00e9"})");
  EXPECT_EQ(root.find("a")->items.size(), 4U);
  EXPECT_EQ(root.find("b")->text, "line\nbreak \xC3\xA9");
}

// ---------------------------------------------------------------------------------------------------------- refusals

TEST(Yaml, AKeyStandsOnce) {
  expect_refused("a: 1\nb: 2\n§a: 3\n", "the key 'a' is given twice");
  expect_refused("m: {x: 1, §x: 2}\n", "the key 'x' is given twice");
}

TEST(Yaml, AnchorsAndAliasesAreRefused) {
  expect_refused("a: §&name 1\n", "anchors ('&name') are not accepted");
  expect_refused("a: §*name\n", "");
}

TEST(Yaml, ABombOfAliasesIsRefusedAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    auto const before = std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? ", *a" : "*a") + before;
    bomb += "]\n";
  }
  EXPECT_THAT(yaml_refusal(bomb), HasSubstr("f:1:5: error: anchors"));
}

TEST(Yaml, TagsAreRefused) {
  expect_refused("a: §!!binary aGk=\n", "the tag 'tag:yaml.org,2002:binary' is not accepted");
  expect_refused("a: §!custom {x: 1}\n", "the tag '!custom' is not accepted");
}

TEST(Yaml, MergeKeysAreRefused) { expect_refused("a: {x: 1}\nb:\n  §<<: {x: 1}\n", "merge keys ('<<')"); }

TEST(Yaml, KeysArePlainNames) {
  expect_refused("{§[a, b]: 1}", "a key must be a plain name");
  expect_refused("? §{a: 1}\n: 2\n", "a key must be a plain name");
  EXPECT_THAT(yaml_refusal("~: 1\n"), HasSubstr("a key must be a plain name"));
}

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(Yaml, SixtyFourLevelsAreTheMost) {
  EXPECT_NO_THROW(parsed(nested(64)));
  EXPECT_THAT(yaml_refusal(nested(65)), HasSubstr("f:1:65: error: nested deeper than 64 levels"));
  EXPECT_THAT(yaml_refusal(nested(100'000)), HasSubstr("nested deeper than 64 levels"));
}

TEST(Yaml, HalfAMillionValuesAreTheMost) {
  std::string text = "[";
  for (int i = 0; i < 500'001; ++i) text += "1,";
  EXPECT_THAT(yaml_refusal(text + "]"), HasSubstr("the file holds more than 500000 values"));
}

TEST(Yaml, ManyKeysTakeNoLongerEach) {  // the square of a hundred thousand would take half a minute
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(parsed(text).entries.size(), 100'000U);
}

TEST(Yaml, AnEmptyFileSaysSo) {
  EXPECT_EQ(yaml_refusal(""), "f: error: the file is empty");
  EXPECT_EQ(yaml_refusal("# only a comment\n"), "f: error: the file is empty");
}

TEST(Yaml, ASecondDocumentIsNotOverlooked) {
  EXPECT_THAT(yaml_refusal("a: 1\n---\nb: 2\n"), HasSubstr("a second YAML document"));
}

TEST(Yaml, WhatIsNoYamlIsRefusedWhereItBreaks) {
  EXPECT_THAT(yaml_refusal("a: [1, 2\n"), HasSubstr("f:2:1: error: not valid YAML"));  // truncated
  EXPECT_THAT(yaml_refusal("a: 1\n\tb: 2\n"), HasSubstr("f:2:"));
}

TEST(Yaml, AnEscapeThatWritesNoUtf8IsRefused) {
  expect_refused("a: §\"next\\Nline\"\n", "byte 0x85, which is not UTF-8");
}

TEST(Yaml, AQuotedTextThatIsCutOffIsRefused) {
  for (auto const* text :
       {"a: \"open", "a: \"open\n", "a: 'open\n", "a: \"open \\\"\n", "a: 'it''s\n", "b: \"c\"\na: \"\n"})
    EXPECT_THAT(yaml_refusal(text), HasSubstr("not valid YAML")) << text;
  for (auto const* text :
       {"a: \"closed\"\n", "a: 'it''s'\n", "a: \"two\n  lines\"\n", "a: 'x' # don't\n", "\"a\": b\n", "a: ''"})
    EXPECT_NO_THROW(parsed(text)) << text;
  EXPECT_THAT(yaml_refusal("a: b: c\n"), HasSubstr("f:1:5: error: not valid YAML"));
}

// -------------------------------------------------------------------------------------------------- described mappings

MapSpec const kInner{"inner", {{.name = "name", .type = ValueType::Id, .doc = "its name", .required = true}}};
MapSpec const kSpec{
    "thing",
    {{.name = "name", .type = ValueType::Id, .doc = "its name"},
     {.name = "flag", .type = ValueType::Flag, .doc = "yes or no"},
     {.name = "count", .type = ValueType::Count, .doc = "how many"},
     {.name = "size", .type = ValueType::Size, .doc = "how large"},
     {.name = "rate", .type = ValueType::Rate, .doc = "how fast", .unknown_allowed = true},
     {.name = "time", .type = ValueType::Time, .doc = "how long"},
     {.name = "per_second", .type = ValueType::Frequency, .doc = "how often"},
     {.name = "ratio", .type = ValueType::Ratio, .doc = "which part"},
     {.name = "word", .type = ValueType::Word, .doc = "which", .words = {"left", "right"}},
     {.name = "list", .type = ValueType::List, .doc = "several", .item = ValueType::Text},
     {.name = "maps", .type = ValueType::List, .doc = "several", .map = &kInner, .item = ValueType::Map},
     {.name = "map", .type = ValueType::Map, .doc = "one", .map = &kInner}}};

void read_thing(SourceText const& source) {
  auto const root = parse_yaml(source);
  Diagnostics diagnostics;
  MapReader reader(root, kSpec, source, diagnostics);
  reader.text("name");
  reader.flag("flag");
  reader.count("count");
  reader.size("size");
  reader.rate("rate");
  reader.time("time");
  reader.frequency("per_second");
  reader.ratio("ratio");
  reader.text("word");
  reader.texts("list");
  for (auto& inner : reader.maps("maps")) inner.text("name");
  if (auto inner = reader.map("map")) inner->text("name");
  diagnostics.throw_if_any();
}
void expect_thing_errors(std::string_view marked, std::vector<std::string> const& messages) {
  expect_errors(marked, messages, read_thing);
}

template <class Get>
auto got(std::string text, Get get) {
  auto const source = SourceText::from_memory("f", std::move(text));
  auto const root = parse_yaml(source);
  Diagnostics diagnostics;
  MapReader reader(root, kSpec, source, diagnostics);
  auto const value = get(reader);
  diagnostics.throw_if_any();
  return value;
}

TEST(MapReader, ReadsWhatIsDescribed) {
  EXPECT_EQ(got("name: node0/gpu-1.x_2", [](auto& r) { return r.text("name"); }), "node0/gpu-1.x_2");
  EXPECT_EQ(got("count: 010", [](auto& r) { return r.count("count"); }), 10);  // not eight
  EXPECT_EQ(got("size: 256 MiB", [](auto& r) { return r.size("size"); }), Bytes(268435456));
  EXPECT_EQ(got("rate: 200 Gb/s", [](auto& r) { return r.rate("rate"); }), BytesPerSecond(25e9));
  EXPECT_EQ(got("time: 2 ms", [](auto& r) { return r.time("time"); }), Seconds(2e-3));
  EXPECT_EQ(got("per_second: 7 k/s", [](auto& r) { return r.frequency("per_second"); }), PerSecond(7000));
  EXPECT_EQ(got("ratio: 50 %", [](auto& r) { return r.ratio("ratio"); }), 0.5);
  EXPECT_EQ(got("word: left", [](auto& r) { return r.text("word"); }), "left");
  EXPECT_THAT(got("list: [a, 1]", [](auto& r) { return r.texts("list"); }), ElementsAre("a", "1"));
}

TEST(MapReader, AFlagHasTheWordsPeopleWrite) {
  for (auto const* yes : {"true", "on", "yes"})
    EXPECT_EQ(got(std::string("flag: ") + yes, [](auto& r) { return r.flag("flag"); }), true);
  for (auto const* no : {"false", "off", "no"})
    EXPECT_EQ(got(std::string("flag: ") + no, [](auto& r) { return r.flag("flag"); }), false);
  expect_thing_errors("flag: §1", {"'1' is not a flag; write true or false"});
}

TEST(MapReader, UnknownIsAnAnswerWhereItIsAllowed) {
  EXPECT_EQ(got("rate: unknown", [](auto& r) { return r.rate("rate"); }), std::nullopt);
  EXPECT_TRUE(got("rate: unknown", [](auto& r) { return r.says_unknown("rate"); }));
  expect_thing_errors("size: §unknown", {"is not a size"});
}

TEST(Yaml, BracketsNestedTooDeeplyAreRefusedAtOnce) {
  auto const began = std::chrono::steady_clock::now();
  for (auto const* open : {"[", "{a: ", "[ {b: [", "- [", "['x', \"y\", ["}) {
    std::string text = "k: ";
    while (text.size() < 8U << 20) text += open;
    EXPECT_THAT(yaml_refusal(text), HasSubstr("nested deeper than 64 levels"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(Yaml, BracketsThatOpenNothingDoNotCount) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "k" + std::to_string(i) + ": a [b {c  # [[[\nq" + std::to_string(i) + ": '[['\nd" + std::to_string(i) +
            ": \"{{\"\nf" + std::to_string(i) + ": [a, '[', {b: \"]\"}]\n";
  EXPECT_EQ(parsed(text).entries.size(), 400U);
}

TEST(Yaml, BracketsAfterAQuoteWithinQuotesOpenNothing) {
  auto const brackets = std::string(80, '[');
  EXPECT_EQ(parsed(R"(k: "a \": )" + brackets + '"').find("k")->text, "a \": " + brackets);
  EXPECT_EQ(parsed("k: 'it''s: " + brackets + "'").find("k")->text, "it's: " + brackets);
}

TEST(MapReader, NamesThatLeaveAFolderAreRefused) {
  for (auto const* name : {"../x", "a/../b", "/etc", "..", "./a", "a//b", "a/"})
    expect_thing_errors(std::string("name: §") + name, {"is not a name"});
}

TEST(MapReader, UnknownKeysSuggestTheNearest) {
  expect_thing_errors("§nmae: x", {"thing: unknown key 'nmae'; did you mean 'name'? allowed: name, flag,"});
  expect_thing_errors("§temperature: x", {"thing: unknown key 'temperature'; allowed: name"});
}

TEST(MapReader, WrongValuesSayWhatIsAllowed) {
  expect_thing_errors("name: §two words", {"'two words' is not a name"});
  expect_thing_errors("count: §-1", {"not a whole number from 0"});
  expect_thing_errors("count: §1.5", {"not a whole number"});
  expect_thing_errors("count: §99999999999", {"not a whole number"});
  expect_thing_errors("size: §256", {"has no unit"});
  expect_thing_errors("size: §-1 MiB", {"must be zero or more"});
  expect_thing_errors("rate: §16 GT/s", {"unknown unit 'GT/s' for a bandwidth; allowed: B/s"});
  expect_thing_errors("time: §5 min", {"unknown unit 'min'"});
  expect_thing_errors("per_second: §215", {"has no unit"});
  expect_thing_errors("ratio: §half", {"is not a ratio"});
  expect_thing_errors("word: §lefft", {"'lefft' is not known; did you mean 'left'? allowed: left, right"});
}

TEST(MapReader, WrongShapesSayWhatIsThere) {
  expect_thing_errors("name: §[a]", {"expected a single value (its name), found a list"});
  expect_thing_errors("size: §{a: 1}", {"found a mapping"});
  expect_thing_errors("list: §a", {"expected a list (several), found a single value"});
  expect_thing_errors("list: [a, §[b]]", {"expected single values, found a list"});
  expect_thing_errors("map: §a", {"inner: expected a mapping, found a single value"});
  expect_thing_errors("maps: [§a]", {"inner: expected a mapping"});
  expect_thing_errors("§- a", {"thing: expected a mapping, found a list"});
}

TEST(MapReader, MissingKeysAreReportedAtTheMapping) {
  expect_thing_errors("map: §{}", {"inner: the key 'name' is missing (its name)"});
  expect_thing_errors("maps:\n  - {name: a}\n  - §{}", {"the key 'name' is missing"});
}

TEST(MapReader, EverythingWrongIsReportedTogether) {
  expect_thing_errors("§nmae: x\ncount: §-1\nsize: §1 parsec\nmaps:\n  - §{}\n",
                      {"unknown key 'nmae'", "not a whole number", "unknown unit 'parsec'", "is missing"});
}

TEST(Schema, AFileSaysWhatItIs) {
  auto const expect_part = [](SourceText const& source) { expect_schema(parse_yaml(source), "part/1", source); };
  EXPECT_NO_THROW(expect_part(SourceText::from_memory("f", "lanewise: part/1")));
  expect_errors("§kind: gpu", {"it must begin with 'lanewise: part/1'"}, expect_part);
  expect_errors("lanewise: §machine/1", {"this is 'machine/1', but 'part/1' is needed here"}, expect_part);
  expect_errors("§[a]", {"not a lanewise file"}, expect_part);
}

}  // namespace
}  // namespace lanewise
