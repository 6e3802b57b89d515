#include "core/io/yaml_writer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "core/io/yaml.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

// The YAML tree as JSON; every scalar is text.
Tree tree_of(YamlNode const& node) {
  switch (node.kind) {
    case YamlKind::Null: return nullptr;
    case YamlKind::Scalar: return node.text;
    case YamlKind::Sequence: {
      auto list = Tree::array();
      for (auto const& item : node.items) list.push_back(tree_of(item));
      return list;
    }
    case YamlKind::Map: {
      auto map = Tree::object();
      for (auto const& entry : node.entries) map[entry.key] = tree_of(entry.value);
      return map;
    }
  }
  return nullptr;
}

void expect_round_trip(Tree const& tree) {
  auto const text = yaml_text(tree);
  EXPECT_EQ(tree_of(parse_yaml(SourceText::from_memory("written.yaml", text))), tree) << text;
}

TEST(YamlWriter, ShortLeavesStandOnOneLine) {
  EXPECT_EQ(yaml_text(Tree{{"machine", "m"}, {"settings", {{"acs", "off"}, {"iommu", "pt"}}}, {"notes", {"a", "b"}}}),
            "machine: m\nsettings: {acs: off, iommu: pt}\nnotes: [a, b]\n");
}

TEST(YamlWriter, ListsOfMapsAreBlocks) {
  Tree const tree{
      {"sockets", {{{"socket", "cpu0"}, {"pcie", {{{"root_port", "rp0"}, {"ports", {{{"gpu", "gpu0"}}}}}}}}}}};
  EXPECT_EQ(yaml_text(tree),
            "sockets:\n  - socket: cpu0\n    pcie:\n      - root_port: rp0\n        ports:\n          - {gpu: gpu0}\n");
}

TEST(YamlWriter, TextsThatYamlWouldReadOtherwiseAreQuoted) {
  for (auto const* text :
       {"",     "null", "~",        " x",   "x ",  "- x",   "? x",  ": x", "a: b", "a:",   "a #b", "#a",   "&a",
        "*a",   "!a",   "|",        ">",    "'a'", "\"a\"", "%a",   "@a",  "`a",   "{a",   "[a",   "a, b", "a}",
        "a\nb", "a\tb", "\xC3\xA9", "a\\b", "---", "...",   "\x7f", "<<",  "true", "0x10", "1e3",  "=",    "a\x01"})
    expect_round_trip(Tree{{"key", text}, {"list", {text, text}}, {"inner", {{"k", text}}}});
}

TEST(YamlWriter, EmptyListsAndMapsStay) {
  expect_round_trip(
      Tree{{"list", Tree::array()}, {"map", Tree::object()}, {"nested", {Tree::array(), Tree::object()}}});
}

TEST(YamlWriter, ListsOfLongListsStay) {  // several cliques of many GPUs
  auto clique = Tree::array();
  for (int i = 0; i < 16; ++i) clique.push_back("a-rather-long-gpu-name-" + std::to_string(i));
  expect_round_trip(Tree{{"cliques", {clique, clique}}});
}

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  Tree map(int depth) {
    auto made = Tree::object();
    auto const count = below(5);
    for (int i = 0; i < count; ++i) made["k" + text()] = value(depth);
    return made;
  }

 private:
  Tree value(int depth) {
    auto const kind = depth == 0 ? 0 : below(4);
    if (kind == 1) return map(depth - 1);
    if (kind != 2) return below(12) == 0 ? Tree(nullptr) : Tree(text());
    auto made = Tree::array();
    auto const count = below(6);
    for (int i = 0; i < count; ++i) made.push_back(value(depth - 1));
    return made;
  }
  std::string text() {
    constexpr std::string_view kLetters = "abcXYZ019 _-./:,#'\"\\{}[]&*!|>%@`~?=\n\t";
    std::string made;
    auto const length = below(10) == 0 ? 60 : below(8);
    for (int i = 0; i < length; ++i)
      made += kLetters[static_cast<std::size_t>(below(static_cast<int>(kLetters.size())))];
    return made;
  }
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  std::mt19937 random_;
};

TEST(YamlWriter, EveryTreeReadsBack) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    auto const tree = RandomTree(seed).map(5);
    if (tree.empty()) continue;
    expect_round_trip(tree);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace lanewise
