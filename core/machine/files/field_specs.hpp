#pragma once
// Short forms of the keys that machine and cluster files consist of.
#include <string>
#include <utility>

#include "core/io/yaml.hpp"

namespace lanewise {

inline FieldSpec schema_field(std::string const& word) {
  return {.name = "lanewise", .type = ValueType::Word, .doc = word, .required = true, .words = {word}};
}
inline FieldSpec id_field(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name), .type = ValueType::Id, .doc = std::move(doc), .required = required};
}
inline FieldSpec count_field(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name), .type = ValueType::Count, .doc = std::move(doc), .required = required};
}
inline FieldSpec rate_field(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ValueType::Rate, .doc = std::move(doc)};
}
inline FieldSpec list_of(std::string name, std::string doc, MapSpec const* map) {
  return {.name = std::move(name), .type = ValueType::List, .doc = std::move(doc), .map = map, .item = ValueType::Map};
}
inline FieldSpec names_field(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name),
          .type = ValueType::List,
          .doc = std::move(doc),
          .required = required,
          .item = ValueType::Text};
}

}  // namespace lanewise
