#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lanewise {

// The tree as YAML in block style, with short leaves on one line. It reads back as the same tree.
std::string yaml_text(nlohmann::ordered_json const& tree);

}  // namespace lanewise
