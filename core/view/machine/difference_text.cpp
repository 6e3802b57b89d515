#include "core/view/machine/difference_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/text/table.hpp"
#include "core/view/machine/words.hpp"

namespace lanewise {
namespace {

// Differences that read the same, of one subject after the other.
struct DifferenceGroup {
  MachineDifference const* example = nullptr;
  std::vector<std::string> subjects;
};

std::vector<DifferenceGroup> grouped(MachineComparison const& comparison, bool expected) {
  std::vector<DifferenceGroup> groups;
  for (auto const& difference : comparison.differences) {
    if (difference.expected.empty() == expected) continue;
    auto const same = std::find_if(groups.begin(), groups.end(), [&](DifferenceGroup const& group) {
      auto const& other = *group.example;
      return other.kind == difference.kind && other.key == difference.key && other.first == difference.first &&
             other.second == difference.second && other.nodes == difference.nodes &&
             other.expected == difference.expected;
    });
    if (same == groups.end())
      groups.push_back({&difference, {difference.subject}});
    else
      same->subjects.push_back(difference.subject);
  }
  return groups;
}

std::string subject_words(DifferenceGroup const& group) {
  constexpr std::size_t kMaxWidth = 60;
  auto subjects = condensed(group.subjects);
  if (subjects.size() > kMaxWidth && group.subjects.size() > 1)
    subjects = fmt::format("{} and {} more", group.subjects.front(), group.subjects.size() - 1);
  auto const& nodes = group.example->nodes;
  return nodes.empty() ? subjects : fmt::format("{} of {}", subjects, condensed(nodes));
}

std::string said(std::string const& text) { return text.empty() ? "not said" : text; }

std::string table_of(MachineComparison const& comparison, bool expected) {
  std::vector<std::string> header{"what", "of", "key", comparison.first, comparison.second};
  if (comparison.first == comparison.second) header[3] = "first", header[4] = "second";
  if (expected) header.emplace_back("expected, for");
  Table table(std::move(header));
  for (auto const& group : grouped(comparison, expected)) {
    auto const& difference = *group.example;
    std::vector<std::string> row{std::string(to_string(difference.kind)), subject_words(group), difference.key,
                                 said(difference.first), said(difference.second)};
    if (expected) row.push_back(difference.expected);
    table.add(std::move(row));
  }
  return table.empty() ? std::string() : table.text();
}

std::string names_text(MachineComparison const& comparison) {
  std::vector<std::string> pairs;
  for (auto const& renaming : comparison.renamed)
    pairs.push_back(fmt::format("{} is called {}", renaming.first, renaming.second));
  constexpr std::size_t kMaxNamed = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxNamed, pairs.size()); ++i) text += (i == 0 ? "" : ", ") + pairs[i];
  if (pairs.size() > kMaxNamed) text += fmt::format(" and {} more", pairs.size() - kMaxNamed);
  if (comparison.reordered) text += text.empty() ? "the devices are in another order" : "; the order differs";
  return text;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string difference_text(MachineComparison const& comparison) {
  auto text = table_of(comparison, false);
  auto const expected = comparison.differences.size() - comparison.unexpected();
  if (expected > 0) text += table_of(comparison, true);
  auto const names = names_text(comparison);
  auto const beside = expected == 0 ? std::string() : fmt::format(", {} expected", counted(expected, "difference"));
  switch (comparison.result()) {
    case ComparisonResult::Equal: return text + fmt::format("equal{}\n", beside);
    case ComparisonResult::EqualButForNames: return text + fmt::format("equal but for names{}: {}\n", beside, names);
    case ComparisonResult::Different: break;
  }
  text += fmt::format("different: {}{}\n", counted(comparison.unexpected(), "difference"), beside);
  if (!names.empty()) text += fmt::format("names: {}\n", names);
  return text;
}

nlohmann::ordered_json difference_json(MachineComparison const& comparison) {
  using Tree = nlohmann::ordered_json;
  Tree tree{{"lanewise", "difference/1"},       {"first", comparison.first},
            {"second", comparison.second},      {"result", to_string(comparison.result())},
            {"differences", Tree::array()},     {"renamed", Tree::array()},
            {"reordered", comparison.reordered}};
  for (auto const& difference : comparison.differences) {
    Tree item{{"kind", to_string(difference.kind)}, {"subject", difference.subject}, {"key", difference.key}};
    if (!difference.nodes.empty()) item["nodes"] = difference.nodes;
    item["first"] = difference.first.empty() ? Tree() : Tree(difference.first);
    item["second"] = difference.second.empty() ? Tree() : Tree(difference.second);
    if (!difference.expected.empty()) item["expected"] = difference.expected;
    tree["differences"].push_back(std::move(item));
  }
  for (auto const& renaming : comparison.renamed)
    tree["renamed"].push_back({{"first", renaming.first}, {"second", renaming.second}});
  return tree;
}

}  // namespace lanewise
