#include "core/io/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <unordered_set>

#include "core/io/spelling.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxNested = 64;
constexpr std::size_t kMaxNodes = 500'000;

struct Refused {  // stops the parser at the first thing we never accept
  YAML::Mark mark;
  std::string message;
};

// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(SourceText const& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  void OnDocumentStart(YAML::Mark const&) override {}
  void OnDocumentEnd() override {}
  void OnNull(YAML::Mark const& mark, YAML::anchor_t anchor) override { add(mark, anchor, "?", YamlKind::Null, {}); }
  void OnAlias(YAML::Mark const& mark, YAML::anchor_t) override {
    throw Refused{mark, "aliases ('*name') are not accepted; write the value out"};
  }
  void OnScalar(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                std::string const& value) override {
    bool const quoted = tag == "!";
    if (quoted) last_quoted_ = mark;
    bool const null = !quoted && (value.empty() || value == "~" || value == "null");
    add(mark, anchor, tag, null ? YamlKind::Null : YamlKind::Scalar, value);
  }
  void OnSequenceStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, tag, YamlKind::Sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(YAML::Mark const& mark, std::string const& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, tag, YamlKind::Map);
  }
  void OnMapEnd() override { close(); }

  YamlNode take() { return std::move(root_); }

  // yaml-cpp takes a quoted text that the end of the file cuts off for a whole one.
  void refuse_open_quote() const {
    if (!last_quoted_) return;
    auto const line = source_.line(last_quoted_->line + 1);
    auto rest = std::string_view(source_.text())
                    .substr(static_cast<std::size_t>(line.data() - source_.text().data()) +
                            static_cast<std::size_t>(last_quoted_->column));
    if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return;
    char const quote = rest.front();
    for (std::size_t i = 1; i < rest.size(); ++i) {
      bool const escaped = quote == '"' ? rest[i] == '\\' : rest.substr(i, 2) == "''";
      if (escaped)
        ++i;
      else if (rest[i] == quote)
        return;
    }
    throw Refused{*last_quoted_, "not valid YAML: the quoted text is not closed"};
  }

 private:
  struct Open {
    YamlNode node;
    bool at_key = true;  // of a map: the next node is a key
    std::unordered_set<std::string> keys = {};
  };

  static YamlNode made(YAML::Mark const& mark, YamlKind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }
  void check(YAML::Mark const& mark, YAML::anchor_t anchor, std::string const& tag) {
    if (anchor != 0) throw Refused{mark, "anchors ('&name') are not accepted; write the value where it is needed"};
    if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark, fmt::format("the tag '{}' is not accepted", tag)};
    if (++nodes_ > kMaxNodes) throw Refused{mark, fmt::format("the file holds more than {} values", kMaxNodes)};
  }
  void add(YAML::Mark const& mark, YAML::anchor_t anchor, std::string const& tag, YamlKind kind,
           std::string const& text) {
    check(mark, anchor, tag);
    auto node = made(mark, kind);
    node.text = text;
    place(std::move(node));
  }
  void open(YAML::Mark const& mark, YAML::anchor_t anchor, std::string const& tag, YamlKind kind) {
    check(mark, anchor, tag);
    if (open_.size() == kMaxNested) throw Refused{mark, fmt::format("nested deeper than {} levels", kMaxNested)};
    if (!open_.empty() && open_.back().node.kind == YamlKind::Map && open_.back().at_key)
      throw Refused{mark, "a key must be a plain name"};
    open_.push_back({made(mark, kind)});
  }
  void close() {
    auto node = std::move(open_.back().node);
    open_.pop_back();
    place(std::move(node));
  }
  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    if (parent.node.kind == YamlKind::Sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.at_key) {
      start_entry(parent, node);
    } else {
      parent.node.entries.back().value = std::move(node);
      parent.at_key = true;
    }
  }
  void start_entry(Open& parent, YamlNode const& key) {
    SourcePos const pos{source_.name(), key.line, key.column};
    if (key.kind == YamlKind::Null) diagnostics_.add(pos, "a key must be a plain name", source_.line(key.line));
    if (key.text == "<<")
      diagnostics_.add(pos, "merge keys ('<<') are not accepted; write the values out", source_.line(key.line));
    if (!parent.keys.insert(key.text).second)
      diagnostics_.add(pos, fmt::format("the key '{}' stands twice in this mapping", key.text), source_.line(key.line));
    parent.node.entries.push_back({key.text, key.line, key.column, {}});
    parent.at_key = false;
  }

  SourceText const& source_;
  Diagnostics& diagnostics_;
  YamlNode root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  std::optional<YAML::Mark> last_quoted_;
};

bool is_id(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
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

}  // namespace

YamlNode const* YamlNode::find(std::string_view key) const {
  for (auto const& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

YamlNode parse_yaml(SourceText const& source) {
  Diagnostics diagnostics;
  TreeBuilder builder(source, diagnostics);
  auto const add = [&](YAML::Mark const& mark, std::string const& message) {
    auto const line = std::clamp(mark.line + 1, 1, std::max(1, source.line_count()));
    diagnostics.add({source.name(), line, std::max(0, mark.column) + 1}, message, source.line(line));
  };
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) diagnostics.add(source.whole(), "the file is empty");
    builder.refuse_open_quote();
    TreeBuilder rest(source, diagnostics);
    if (diagnostics.empty() && parser.HandleNextDocument(rest))
      diagnostics.add(source.whole(), "the file holds a second YAML document; only one is read");
  } catch (Refused const& refused) {
    add(refused.mark, refused.message);
  } catch (YAML::Exception const& error) {
    add(error.mark, "not valid YAML: " + error.msg);
  }
  diagnostics.throw_if_any();
  return builder.take();
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

// The scalar under a key, or nullptr when it is absent, `unknown` where that is allowed, or not a scalar (reported).
YamlNode const* MapReader::scalar(std::string_view key, ValueType type) {
  auto const* field = spec_.find(key);
  if (field == nullptr || field->type != type)
    throw std::logic_error(
        fmt::format("{}: the reader asks for '{}' otherwise than its MapSpec says", spec_.title, key));
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
std::optional<double> MapReader::ratio(std::string_view key) { return parsed(key, ValueType::Ratio, parse_ratio); }

std::optional<bool> MapReader::flag(std::string_view key) {
  return parsed(key, ValueType::Flag, [](std::string_view text) {
    if (text == "true" || text == "on" || text == "yes") return Parsed<bool>{true, {}};
    if (text == "false" || text == "off" || text == "no") return Parsed<bool>{false, {}};
    return Parsed<bool>{{}, fmt::format("'{}' is not a flag; write true or false", text)};
  });
}

std::optional<int> MapReader::count(std::string_view key) {
  return parsed(key, ValueType::Count, [](std::string_view text) {
    int value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0) return Parsed<int>{value, {}};
    return Parsed<int>{{}, fmt::format("'{}' is not a whole number from 0 to 2147483647", text)};
  });
}

std::optional<std::string> MapReader::text(std::string_view key) {
  auto const* field = spec_.find(key);
  auto const type = field != nullptr ? field->type : ValueType::Text;
  bool const textual =
      type == ValueType::Text || type == ValueType::Id || type == ValueType::Word || type == ValueType::Custom;
  auto const* node = scalar(key, textual ? type : ValueType::Text);
  if (node == nullptr) return std::nullopt;
  if (type == ValueType::Id && !is_id(node->text)) {
    fail(*node,
         fmt::format("'{}': '{}' is not a name; letters, digits, '_', '-', '.' and '/' are allowed", key, node->text));
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
        fmt::format("{}: the reader asks for the list '{}' otherwise than its MapSpec says", spec_.title, key));
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
        fmt::format("{}: the reader asks for the mapping '{}' otherwise than its MapSpec says", spec_.title, key));
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
    throw std::logic_error(
        fmt::format("{}: the reader asks for '{}' otherwise than its MapSpec says", spec_.title, key));
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
