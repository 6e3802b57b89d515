#pragma once
// Reads YAML into a plain tree with positions; the only user of yaml-cpp. Aliases, anchors, tags, merge keys and
// duplicate keys are refused (an alias can make a small file explode). A reader describes each mapping it accepts by a
// MapSpec. The same description checks files and generates the JSON Schema, so the two cannot disagree:
//
//   MapReader gpu(node, kGpuSpec, source, diagnostics);   // reports unknown, duplicate and missing keys
//   auto const memory = gpu.bytes("memory");              // reports a wrong unit; absent: nullopt
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

enum class YamlKind : std::uint8_t { Null, Scalar, Sequence, Map };

struct YamlNode {
  struct Entry;
  YamlKind kind = YamlKind::Null;
  int line = 0;
  int column = 0;
  std::string text;             // of a scalar
  std::vector<YamlNode> items;  // of a sequence
  std::vector<Entry> entries;   // of a map, in file order

  [[nodiscard]] YamlNode const* find(std::string_view key) const;
};

struct YamlNode::Entry {
  std::string key;
  int line = 0;
  int column = 0;
  YamlNode value;
};

// Parses one YAML document. Throws InputError with every problem found.
YamlNode parse_yaml(SourceText const& source);

// ---------------------------------------------------------------------------------------------- describing a mapping

enum class ValueType : std::uint8_t {
  Text,        // any text
  Id,          // a name: letters, digits, '_', '-', '.', '/'
  Flag,        // true or false
  Count,       // a whole number from 0
  LargeCount,  // the same up to 2^63 - 1
  Size,        // "256 MiB"
  Rate,        // "24.5 GB/s"
  Time,        // "350 ns"
  Frequency,   // "215 M/s"
  Work,        // "1.2 TFLOP"
  WorkRate,    // "312 TFLOP/s"
  Power,       // "700 W"
  Ratio,       // "2 %" or 0.02
  Word,        // one of `words`
  List,        // of `item`
  Map,         // described by `map`
  Dictionary,  // names to values of `item`
  Custom,      // read by its own function; `pattern`, `map` and `item` say what it may be
};

struct MapSpec;

struct FieldSpec {
  std::string name = {};
  ValueType type = ValueType::Text;
  std::string doc = {};  // meaning and unit in one line, for documentation, messages and editors
  bool required = false;
  bool unknown_allowed = false;         // the word `unknown` may replace the value
  std::vector<std::string> words = {};  // the allowed values of a Word
  MapSpec const* map = nullptr;  // of a Map, and of a List or Dictionary of maps; a Custom may be such a mapping too
  ValueType item =
      ValueType::Text;       // of a List or Dictionary; a Custom with item Custom may be a list of its values too
  std::string pattern = {};  // of a Custom: a regular expression for a single value; empty: any text
};

// The whole number that a single value is; nullopt where it is none, or not between these.
std::optional<int> whole_number_in(YamlNode const& node, int least, int most = std::numeric_limits<int>::max());

// The two most common fields: any text, and true or false.
FieldSpec text_field(std::string name, std::string doc, bool required = false);
FieldSpec flag_field(std::string name, std::string doc);

struct MapSpec {
  std::string title;
  std::vector<FieldSpec> fields;
  [[nodiscard]] FieldSpec const* find(std::string_view name) const;
};

// Reads one mapping that a MapSpec describes. Unknown, duplicate and missing keys and wrong values go to the
// diagnostics; a getter returns nullopt when its key is absent or its value is wrong. A getter that does not fit the
// MapSpec throws std::logic_error. The node, the spec, the source and the diagnostics must outlive the reader.
class MapReader {
 public:
  MapReader(YamlNode const& node, MapSpec const& spec, SourceText const& source, Diagnostics& diagnostics);

  [[nodiscard]] bool has(std::string_view key) const { return node_.find(key) != nullptr; }
  // Whether the value is the word `unknown`.
  [[nodiscard]] bool says_unknown(std::string_view key) const;
  [[nodiscard]] YamlNode const* node(std::string_view key) const { return node_.find(key); }
  [[nodiscard]] YamlNode const& self() const { return node_; }

  std::optional<std::string> text(std::string_view key);  // Text, Id, Word
  std::optional<bool> flag(std::string_view key);
  std::optional<int> count(std::string_view key);
  std::optional<std::int64_t> large_count(std::string_view key);
  std::optional<Bytes> size(std::string_view key);
  std::optional<BytesPerSecond> rate(std::string_view key);
  std::optional<Seconds> time(std::string_view key);
  std::optional<PerSecond> frequency(std::string_view key);
  std::optional<Flop> work(std::string_view key);
  std::optional<FlopPerSecond> work_rate(std::string_view key);
  std::optional<Watts> power(std::string_view key);
  std::optional<double> ratio(std::string_view key);
  std::vector<std::string> texts(std::string_view key);      // a List of Text, Id or Word
  std::vector<YamlNode const*> items(std::string_view key);  // a List of anything
  std::optional<MapReader> map(std::string_view key);        // a Map
  std::vector<MapReader> maps(std::string_view key);         // a List of maps
  YamlNode const* custom(std::string_view key);              // a Custom or Dictionary, unchecked

  // Reports a problem at a node; at a key, or at the mapping when the key is absent.
  void fail(YamlNode const& at, std::string message) const;
  void fail_at_key(std::string_view key, std::string message) const;
  [[nodiscard]] SourceText const& source() const { return source_; }
  [[nodiscard]] Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  YamlNode const* scalar(std::string_view key, ValueType type);
  template <class Parse>
  auto parsed(std::string_view key, ValueType type, Parse parse);

  YamlNode const& node_;
  MapSpec const& spec_;
  SourceText const& source_;
  Diagnostics& diagnostics_;
};

// Checks that a file is a mapping whose key `lanewise` holds `schema` ("machine/1"); throws InputError when not.
void expect_schema(YamlNode const& root, std::string_view schema, SourceText const& source);

}  // namespace lanewise
