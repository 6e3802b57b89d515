#include "tests/reference/schema_validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <stdexcept>

namespace lanewise::test {
namespace {

using Json = nlohmann::ordered_json;

// The value of a plain scalar in the core schema of YAML 1.2. (Quotes are gone by now; nothing here depends on them.)
Json value_of(YamlNode const& node) {
  static std::regex const integer("[-+]?[0-9]+");
  static std::regex const number(R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)");
  if (node.kind == YamlKind::Null) return nullptr;
  if (node.kind == YamlKind::Sequence) return Json::array();
  if (node.kind == YamlKind::Map) return Json::object();
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (std::regex_match(node.text, integer) && node.text.size() < 18) return std::stoll(node.text);
  if (std::regex_match(node.text, number)) return std::stod(node.text);
  return node.text;
}

bool is_type(Json const& value, std::string const& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer")
    return value.is_number_integer() || (value.is_number() && std::floor(value.get<double>()) == value);
  throw std::logic_error("the schema has the type " + type);
}

class Validator {
 public:
  explicit Validator(Json const& root) : root_(root) {}

  std::vector<std::string> problems(Json const& schema, YamlNode const& node) {
    std::vector<std::string> found;
    auto const value = value_of(node);
    auto const add = [&](std::string const& what) { found.push_back(fmt::format("line {}: {}", node.line, what)); };
    auto const take = [&](std::vector<std::string> const& more) {
      found.insert(found.end(), more.begin(), more.end());
    };
    for (auto const& [keyword, says] : schema.items()) {
      if (keyword == "type") {
        auto const types =
            says.is_array() ? says.get<std::vector<std::string>>() : std::vector{says.get<std::string>()};
        if (std::none_of(types.begin(), types.end(), [&](auto const& type) { return is_type(value, type); }))
          add(fmt::format("{} is not of type {}", value.dump(), says.dump()));
      } else if (keyword == "enum") {
        if (std::find(says.begin(), says.end(), value) == says.end())
          add(fmt::format("{} is none of {}", value.dump(), says.dump()));
      } else if (keyword == "pattern") {
        if (value.is_string() && !matches(value.get<std::string>(), says.get<std::string>()))
          add(fmt::format("{} does not match {}", value.dump(), says.dump()));
      } else if (keyword == "minimum") {
        if (value.is_number() && value < says) add(fmt::format("{} is less than {}", value.dump(), says.dump()));
      } else if (keyword == "maximum") {
        if (value.is_number() && value > says) add(fmt::format("{} is more than {}", value.dump(), says.dump()));
      } else if (keyword == "required") {
        for (auto const& key : says)
          if (node.kind == YamlKind::Map && node.find(key.get<std::string>()) == nullptr)
            add(fmt::format("{} is missing", key.dump()));
      } else if (keyword == "properties") {
        for (auto const& entry : node.entries)
          if (says.contains(entry.key)) take(problems(says[entry.key], entry.value));
      } else if (keyword == "additionalProperties") {
        for (auto const& entry : node.entries) {
          if (schema.contains("properties") && schema["properties"].contains(entry.key)) continue;
          if (says.is_boolean())
            add(fmt::format("the key '{}' is not known", entry.key));
          else
            take(problems(says, entry.value));
        }
      } else if (keyword == "items") {
        for (auto const& item : node.items) take(problems(says, item));
      } else if (keyword == "$ref") {
        take(problems(root_.at(Json::json_pointer(says.get<std::string>().substr(1))), node));
      } else if (keyword == "anyOf" || keyword == "oneOf") {
        auto const fitting =
            std::count_if(says.begin(), says.end(), [&](Json const& choice) { return problems(choice, node).empty(); });
        if (fitting == 0) add(fmt::format("fits no choice of {}", keyword));
        if (fitting > 1 && keyword == "oneOf") add("fits more than one choice");
      } else if (keyword != "title" && keyword != "description" && keyword != "$schema" && keyword != "$comment" &&
                 keyword != "$defs") {
        throw std::logic_error("the schema has the keyword " + keyword);
      }
    }
    return found;
  }

 private:
  bool matches(std::string const& text, std::string const& pattern) {
    auto const [it, fresh] = expressions_.try_emplace(pattern);
    if (fresh) it->second = std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
    return std::regex_search(text, it->second);
  }

  Json const& root_;
  std::map<std::string, std::regex> expressions_;
};

}  // namespace

std::vector<std::string> schema_problems(nlohmann::ordered_json const& schema, YamlNode const& document) {
  return Validator(schema).problems(schema, document);
}

}  // namespace lanewise::test
