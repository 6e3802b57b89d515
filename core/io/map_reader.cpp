#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "core/io/spelling.hpp"
#include "core/io/yaml.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Names of files are made of names, so none may lead out of a folder: no part between '/' is empty, '.' or '..'.
bool stays_in_folder(std::string_view text) {
  while (true) {
    auto const slash = text.find('/');
    auto const part = text.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_id(std::string_view text) {
  return stays_in_folder(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '.' || c == '/';
         });
}

std::string joined(std::vector<std::string> const& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string_view name_of(YamlKind kind) {
  switch (kind) {
    case YamlKind::Null: return "nothing";
    case YamlKind::Scalar: return "a single value";
    case YamlKind::Sequence: return "a list";
    case YamlKind::Map: return "a mapping";
  }
  return "?";
}

template <class Integer>
Parsed<Integer> parse_count(std::string_view text) {
  Integer value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 0) return {value, {}};
  return {{}, fmt::format("'{}' is not a whole number from 0 to {}", text, std::numeric_limits<Integer>::max())};
}

}  // namespace

std::optional<int> whole_number_in(YamlNode const& node, int least, int most) {
  auto const number = node.kind == YamlKind::Scalar ? parse_count<int>(node.text).value : std::nullopt;
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

FieldSpec text_field(std::string name, std::string doc, bool required) {
  return {.name = std::move(name), .type = ValueType::Text, .doc = std::move(doc), .required = required};
}
FieldSpec flag_field(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ValueType::Flag, .doc = std::move(doc)};
}

FieldSpec const* MapSpec::find(std::string_view name) const {
  for (auto const& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

MapReader::MapReader(YamlNode const& node, MapSpec const& spec, SourceText const& source, Diagnostics& diagnostics)
    : node_(node), spec_(spec), source_(source), diagnostics_(diagnostics) {
  if (node.kind != YamlKind::Map) {
    fail(node, fmt::format("{}: expected a mapping, found {}", spec.title, name_of(node.kind)));
    return;
  }
  for (auto const& entry : node.entries) {
    if (spec.find(entry.key) != nullptr) continue;
    std::vector<std::string> names;
    for (auto const& field : spec.fields) names.push_back(field.name);
    diagnostics.add({source.name(), entry.line, entry.column},
                    fmt::format(
                        "{}: unknown key '{}'{} allowed: {}", spec.title, entry.key,
                        [&] {
                          auto const hint = did_you_mean(entry.key, names);
                          return hint.empty() ? std::string(";") : hint;
                        }(),
                        joined(names)),
                    source.line(entry.line));
  }
  for (auto const& field : spec.fields)
    if (field.required && node.find(field.name) == nullptr)
      fail(node, fmt::format("{}: the key '{}' is missing ({})", spec.title, field.name, field.doc));
}

void MapReader::fail(YamlNode const& at, std::string message) const {
  auto const& pos = at.line > 0 ? at : node_;
  diagnostics_.add({source_.name(), pos.line, pos.column}, std::move(message), source_.line(pos.line));
}

void MapReader::fail_at_key(std::string_view key, std::string message) const {
  for (auto const& entry : node_.entries)
    if (entry.key == key)
      return diagnostics_.add({source_.name(), entry.line, entry.column}, std::move(message), source_.line(entry.line));
  fail(node_, std::move(message));
}

bool MapReader::says_unknown(std::string_view key) const {
  auto const* node = node_.find(key);
  return node != nullptr && node->kind == YamlKind::Scalar && node->text == "unknown";
}

// The scalar of a key, or nullptr when it is absent, `unknown` where that is allowed, or not a scalar (reported).
YamlNode const* MapReader::scalar(std::string_view key, ValueType type) {
  auto const* field = spec_.find(key);
  if (field == nullptr || field->type != type)
    throw std::logic_error(fmt::format("{}: the reader's getter of '{}' does not fit its MapSpec", spec_.title, key));
  auto const* node = node_.find(key);
  if (node == nullptr) return nullptr;
  if (node->kind != YamlKind::Scalar) {
    fail(*node, fmt::format("'{}': expected a single value ({}), found {}", key, field->doc, name_of(node->kind)));
    return nullptr;
  }
  if (field->unknown_allowed && node->text == "unknown") return nullptr;
  return node;
}

template <class Parse>
auto MapReader::parsed(std::string_view key, ValueType type, Parse parse) {
  auto const* node = scalar(key, type);
  decltype(parse(std::string_view()).value) value;
  if (node == nullptr) return value;
  auto const result = parse(node->text);
  if (!result.value) fail(*node, fmt::format("'{}': {}", key, result.problem));
  return result.value;
}

std::optional<Bytes> MapReader::size(std::string_view key) { return parsed(key, ValueType::Size, parse_bytes); }
std::optional<BytesPerSecond> MapReader::rate(std::string_view key) { return parsed(key, ValueType::Rate, parse_rate); }
std::optional<Seconds> MapReader::time(std::string_view key) { return parsed(key, ValueType::Time, parse_seconds); }
std::optional<PerSecond> MapReader::frequency(std::string_view key) {
  return parsed(key, ValueType::Frequency, parse_frequency);
}
std::optional<Flop> MapReader::work(std::string_view key) { return parsed(key, ValueType::Work, parse_flop); }
std::optional<FlopPerSecond> MapReader::work_rate(std::string_view key) {
  return parsed(key, ValueType::WorkRate, parse_flop_rate);
}
std::optional<Watts> MapReader::power(std::string_view key) { return parsed(key, ValueType::Power, parse_watts); }
std::optional<double> MapReader::ratio(std::string_view key) { return parsed(key, ValueType::Ratio, parse_ratio); }

std::optional<bool> MapReader::flag(std::string_view key) {
  return parsed(key, ValueType::Flag, [](std::string_view text) {
    if (text == "true" || text == "on" || text == "yes") return Parsed<bool>{true, {}};
    if (text == "false" || text == "off" || text == "no") return Parsed<bool>{false, {}};
    return Parsed<bool>{{}, fmt::format("'{}' is not a flag; write true or false", text)};
  });
}

std::optional<int> MapReader::count(std::string_view key) { return parsed(key, ValueType::Count, parse_count<int>); }

std::optional<std::int64_t> MapReader::large_count(std::string_view key) {
  return parsed(key, ValueType::LargeCount, parse_count<std::int64_t>);
}

std::optional<std::string> MapReader::text(std::string_view key) {
  auto const* field = spec_.find(key);
  auto const type = field != nullptr ? field->type : ValueType::Text;
  bool const textual =
      type == ValueType::Text || type == ValueType::Id || type == ValueType::Word || type == ValueType::Custom;
  auto const* node = scalar(key, textual ? type : ValueType::Text);
  if (node == nullptr) return std::nullopt;
  if (type == ValueType::Id && !is_id(node->text)) {
    fail(*node, fmt::format("'{}': '{}' is not a name; letters, digits, '_', '-', '.' and '/' are allowed, and no part "
                            "between '/' is empty, '.' or '..'",
                            key, node->text));
    return std::nullopt;
  }
  if (type == ValueType::Word &&
      std::find(field->words.begin(), field->words.end(), node->text) == field->words.end()) {
    fail(*node, fmt::format("'{}': '{}' is not known{} allowed: {}", key, node->text,
                            did_you_mean_first(node->text, field->words), joined(field->words)));
    return std::nullopt;
  }
  return node->text;
}

std::vector<YamlNode const*> MapReader::items(std::string_view key) {
  auto const* field = spec_.find(key);
  if (field == nullptr || field->type != ValueType::List)
    throw std::logic_error(
        fmt::format("{}: the reader's getter of the list '{}' does not fit its MapSpec", spec_.title, key));
  std::vector<YamlNode const*> nodes;
  auto const* node = node_.find(key);
  if (node == nullptr || node->kind == YamlKind::Null) return nodes;
  if (node->kind != YamlKind::Sequence) {
    fail(*node, fmt::format("'{}': expected a list ({}), found {}", key, field->doc, name_of(node->kind)));
    return nodes;
  }
  for (auto const& item : node->items) nodes.push_back(&item);
  return nodes;
}

std::vector<std::string> MapReader::texts(std::string_view key) {
  std::vector<std::string> values;
  for (auto const* item : items(key)) {
    if (item->kind == YamlKind::Scalar)
      values.push_back(item->text);
    else
      fail(*item, fmt::format("'{}': expected single values, found {}", key, name_of(item->kind)));
  }
  return values;
}

std::optional<MapReader> MapReader::map(std::string_view key) {
  auto const* field = spec_.find(key);
  if (field == nullptr || field->type != ValueType::Map)
    throw std::logic_error(
        fmt::format("{}: the reader's getter of the mapping '{}' does not fit its MapSpec", spec_.title, key));
  auto const* node = node_.find(key);
  if (node == nullptr) return std::nullopt;
  return MapReader(*node, *field->map, source_, diagnostics_);
}

std::vector<MapReader> MapReader::maps(std::string_view key) {
  std::vector<MapReader> readers;
  auto const nodes = items(key);
  readers.reserve(nodes.size());
  for (auto const* node : nodes) readers.emplace_back(*node, *spec_.find(key)->map, source_, diagnostics_);
  return readers;
}

YamlNode const* MapReader::custom(std::string_view key) {
  auto const* field = spec_.find(key);
  if (field == nullptr || (field->type != ValueType::Custom && field->type != ValueType::Dictionary))
    throw std::logic_error(fmt::format("{}: the reader's getter of '{}' does not fit its MapSpec", spec_.title, key));
  return node_.find(key);
}

void expect_schema(YamlNode const& root, std::string_view schema, SourceText const& source) {
  Diagnostics diagnostics;
  auto const* word = root.kind == YamlKind::Map ? root.find("lanewise") : nullptr;
  if (word == nullptr)
    diagnostics.add({source.name(), 1, 1},
                    fmt::format("not a lanewise file: it must begin with 'lanewise: {}'", schema), source.line(1));
  else if (word->text != schema)
    diagnostics.add({source.name(), word->line, word->column},
                    fmt::format("this is '{}', but '{}' is needed here", word->text, schema), source.line(word->line));
  diagnostics.throw_if_any();
}

}  // namespace lanewise
