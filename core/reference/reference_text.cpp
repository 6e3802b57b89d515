#include "core/reference/reference_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lanewise/rules/rule.hpp"

namespace lanewise {
namespace {

std::string in_table(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string anchor_of(MapSpec const& spec) {
  std::string anchor;
  for (char const c : spec.title)
    anchor += c == ' ' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return anchor;
}

std::string link_to(MapSpec const& spec) { return fmt::format("[{}](#{})", spec.title, anchor_of(spec)); }

std::string words_of(std::vector<std::string> const& words) { return fmt::format("`{}`", fmt::join(words, "`, `")); }

// The words of a pattern that is a list of alternatives; "word" for any other pattern.
std::string words_of_pattern(std::string_view pattern) {
  if (!pattern.starts_with("^(") || !pattern.ends_with(")$")) return "word";
  auto const inner = pattern.substr(2, pattern.size() - 4);
  if (inner.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_|") != std::string_view::npos) return "word";
  std::string words = "`";
  for (char const c : inner) words += c == '|' ? std::string("`, `") : std::string(1, c);
  return words + "`";
}

std::string item_of(FieldSpec const& field) {
  if (field.item == ValueType::Map && field.map == nullptr) return "[parts](part.md)";
  if (field.item == ValueType::Map) return link_to(*field.map);
  return field.item == ValueType::Custom ? "values" : "texts";
}

std::string type_of(FieldSpec const& field) {
  switch (field.type) {
    case ValueType::Text: return "text";
    case ValueType::Id: return "name";
    case ValueType::Flag: return "`true` or `false`";
    case ValueType::Count:
    case ValueType::LargeCount: return "whole number";
    case ValueType::Size: return "size, `256 MiB`";
    case ValueType::Rate: return "rate, `24.5 GB/s`";
    case ValueType::Time: return "time, `350 ns`";
    case ValueType::Frequency: return "frequency, `215 M/s`";
    case ValueType::Work: return "operations, `1.2 TFLOP`";
    case ValueType::WorkRate: return "operations a second, `312 TFLOP/s`";
    case ValueType::Power: return "power, `700 W`";
    case ValueType::Ratio: return "ratio, `0.8` or `80 %`";
    case ValueType::Word: return words_of(field.words);
    case ValueType::List: return fmt::format("list of {}", item_of(field));
    case ValueType::Map: return link_to(*field.map);
    case ValueType::Dictionary: return fmt::format("names to {}", item_of(field));
    case ValueType::Custom: break;
  }
  auto type = field.pattern.empty() ? std::string("mapping") : words_of_pattern(field.pattern);
  if (field.item == ValueType::Custom) type += ", or a list";
  if (field.map != nullptr) type += ", or " + link_to(*field.map);
  return type;
}

// Writes a mapping and every mapping it refers to, each once.
class KeysWriter {
 public:
  void add(MapSpec const& spec) {
    if (std::find(written_.begin(), written_.end(), &spec) != written_.end()) return;
    written_.push_back(&spec);
    text_ += fmt::format("\n## {}\n\n| key | type | | meaning |\n|---|---|---|---|\n", spec.title);
    for (auto const& field : spec.fields) {
      auto type = type_of(field);
      if (field.unknown_allowed) type += ", or `unknown`";
      text_ += fmt::format("| `{}` | {} | {} | {} |\n", field.name, in_table(type), field.required ? "required" : "",
                           in_table(field.doc));
    }
    for (auto const& field : spec.fields)
      if (field.map != nullptr) add(*field.map);
  }
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  std::string text_;
  std::vector<MapSpec const*> written_;
};

std::string mechanisms_of(Rule const& rule) {
  std::string names;
  for (auto const mechanism : all_mechanisms()) {
    auto const rules = rules_of(mechanism);
    if (std::find(rules.begin(), rules.end(), &rule) == rules.end()) continue;
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", to_string(mechanism));
  }
  return names;
}

}  // namespace

std::string keys_text(FileKind kind) {
  KeysWriter writer;
  for (auto const* spec : file_specs(kind)) writer.add(*spec);
  return fmt::format("# Keys of a {0} file\n\nWritten by `lanewise export keys {0}`; do not edit.\n{1}",
                     to_string(kind), writer.text());
}

std::string rules_text() {
  std::string text =
      "# Rules\n\nWritten by `lanewise export rules`; do not edit. Where several rules refuse a way, `lanewise why` "
      "names the first.\n"
      "A rule that changes the way lets the transfer pass, but not where it would go without the rule.\n\n"
      "What Linux's p2pdma decides is held to its own source, of the kernel that the rule names, for every pair of all "
      "bundled\nmachines and for random switch trees: `tests/oracle/p2pdma.sh`, after `./setup.sh install oracle`.\n\n"
      "| rule | what it says | | of | source |\n|---|---|---|---|---|\n";
  for (auto const& rule : all_rules())
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", rule.id, in_table(std::string(rule.sentence)),
                        rule.refuses ? "refuses" : "changes the way", mechanisms_of(rule),
                        in_table(std::string(rule.source)));
  return text;
}

}  // namespace lanewise
