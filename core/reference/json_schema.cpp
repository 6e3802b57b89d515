#include "core/reference/json_schema.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

// Editors take `x: 4` and `x: true` for a number and a boolean; the reader takes any scalar as text.
Json any_scalar() { return Json::array({"string", "number", "boolean"}); }

// Names between '/', none of them '.' or '..'.
constexpr char kIdPattern[] =
    "^(\\.{0,2}[A-Za-z0-9_-][A-Za-z0-9_.-]*|\\.{3}[A-Za-z0-9_.-]*)"
    "(/(\\.{0,2}[A-Za-z0-9_-][A-Za-z0-9_.-]*|\\.{3}[A-Za-z0-9_.-]*))*$";

// Whether a pattern matches `on` or `off`, which editors that follow YAML 1.1 take for booleans.
bool may_be_boolean(std::string const& pattern) {
  std::regex const expression(pattern);
  return std::regex_search("on", expression) || std::regex_search("off", expression);
}

Json unit_text(std::string pattern, bool unknown_allowed) {
  if (unknown_allowed) pattern += "|^unknown$";
  return {{"type", "string"}, {"pattern", std::move(pattern)}};
}

class SchemaWriter {
 public:
  Json write(FileKind kind) {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "lanewise " + std::string(to_string(kind)) + " file"},
                {"$comment", "Written by `lanewise export schema " + std::string(to_string(kind)) + "`."}};
    auto const specs = file_specs(kind);
    if (specs.size() == 1) {
      schema.update(mapping(*specs.front()));
    } else {  // "lanewise" is required in a file, but not in a part inside a machine file
      schema["required"] = Json::array({"lanewise"});
      schema["oneOf"] = one_of(specs);
    }
    if (!definitions_.empty()) schema["$defs"] = definitions_;
    return schema;
  }

 private:
  Json mapping(MapSpec const& spec) {
    Json properties = Json::object();
    Json required = Json::array();
    for (auto const& field : spec.fields) {
      auto value = of(field);
      value["description"] = field.doc;
      properties[field.name] = std::move(value);
      if (field.required) required.push_back(field.name);
    }
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
  }

  // A reference to the definition of a mapping. A mapping may contain itself, so it is entered before it is written.
  Json reference(MapSpec const& spec) {
    if (auto const known = names_.find(&spec); known != names_.end()) return {{"$ref", "#/$defs/" + known->second}};
    auto name = spec.title;
    std::replace(name.begin(), name.end(), ' ', '_');
    while (definitions_.contains(name)) name += "_";
    names_.emplace(&spec, name);
    definitions_[name] = Json::object();  // reserves name and position
    auto definition = mapping(spec);
    definitions_[name] = std::move(definition);
    return {{"$ref", "#/$defs/" + name}};
  }

  Json one_of(std::vector<MapSpec const*> const& specs) {
    Json choices = Json::array();
    for (auto const* spec : specs) choices.push_back(reference(*spec));
    return choices;
  }

  Json of(FieldSpec const& field) {
    auto const unknown = field.unknown_allowed;
    switch (field.type) {
      case ValueType::Text: return {{"type", any_scalar()}};
      case ValueType::Id: return {{"type", any_scalar()}, {"pattern", kIdPattern}};
      case ValueType::Flag: return flag(unknown);
      case ValueType::Count:
      case ValueType::LargeCount:
        return {{"type", Json::array({"integer", "string"})},
                {"minimum", 0},
                {"maximum", field.type == ValueType::Count ? std::numeric_limits<int>::max()
                                                           : std::numeric_limits<std::int64_t>::max()},
                {"pattern", unknown ? "^[0-9]+$|^unknown$" : "^[0-9]+$"}};
      case ValueType::Size: return unit_text(bytes_pattern(), unknown);
      case ValueType::Rate: return unit_text(rate_pattern(), unknown);
      case ValueType::Time: return unit_text(seconds_pattern(), unknown);
      case ValueType::Frequency: return unit_text(frequency_pattern(), unknown);
      case ValueType::Work: return unit_text(flop_pattern(), unknown);
      case ValueType::WorkRate: return unit_text(flop_rate_pattern(), unknown);
      case ValueType::Power: return unit_text(watts_pattern(), unknown);
      case ValueType::Ratio: {
        auto schema = unit_text(ratio_pattern(), unknown);
        schema["type"] = Json::array({"number", "string"});
        schema["minimum"] = 0;
        return schema;
      }
      case ValueType::Word: return word(field);
      case ValueType::List: return {{"type", Json::array({"array", "null"})}, {"items", item(field)}};
      case ValueType::Map: return reference(*field.map);
      case ValueType::Dictionary: return {{"type", "object"}, {"additionalProperties", item(field)}};
      case ValueType::Custom: return custom(field);
    }
    return Json::object();
  }

  static Json flag(bool unknown_allowed) {
    auto words = Json::array({true, false, "true", "false", "on", "off", "yes", "no"});
    if (unknown_allowed) words.push_back("unknown");
    return {{"enum", std::move(words)}};
  }

  static Json word(FieldSpec const& field) {
    Json words = field.words;
    auto const has = [&](char const* text) {
      return std::find(field.words.begin(), field.words.end(), text) != field.words.end();
    };
    if (has("yes") || has("on")) words.push_back(true);
    if (has("no") || has("off")) words.push_back(false);
    if (field.unknown_allowed) words.push_back("unknown");
    return {{"enum", std::move(words)}};
  }

  // The items of a list or dictionary. Maps without a MapSpec are parts, which have one for each kind.
  Json item(FieldSpec const& field) {
    if (field.item == ValueType::Map && field.map == nullptr) return {{"oneOf", one_of(part_specs())}};
    if (field.item == ValueType::Map) return reference(*field.map);
    if (field.item == ValueType::Custom) return Json::object();
    return {{"type", any_scalar()}};
  }

  Json custom(FieldSpec const& field) {
    if (field.pattern.empty()) return Json::object();
    auto const single = [&](bool unknown_allowed) {
      auto schema = unit_text(field.pattern, unknown_allowed);
      if (may_be_boolean(field.pattern)) schema["type"] = Json::array({"string", "boolean"});
      return schema;
    };
    auto choices = Json::array({single(field.unknown_allowed)});
    if (field.item == ValueType::Custom) choices.push_back({{"type", "array"}, {"items", single(false)}});
    if (field.map != nullptr) choices.push_back(reference(*field.map));
    return choices.size() == 1 ? choices.front() : Json{{"anyOf", std::move(choices)}};
  }

  Json definitions_ = Json::object();
  std::map<MapSpec const*, std::string> names_;
};

}  // namespace

nlohmann::ordered_json json_schema(FileKind kind) { return SchemaWriter().write(kind); }

}  // namespace lanewise
