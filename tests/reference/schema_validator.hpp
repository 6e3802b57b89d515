#pragma once
// A validator for the part of JSON Schema that lanewise writes, on YAML as an editor's YAML 1.2 parser sees it.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/io/yaml.hpp"

namespace lanewise::test {

// What is wrong with the document: "line 4: ..."; empty: it is valid. Throws std::logic_error for a keyword of the
// schema that this validator does not know.
std::vector<std::string> schema_problems(nlohmann::ordered_json const& schema, YamlNode const& document);

}  // namespace lanewise::test
