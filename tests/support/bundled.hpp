#pragma once
#include <filesystem>

#include "lanewise/machine/catalogue.hpp"

namespace lanewise::test {

// The bundled parts, machines and clusters.
inline Catalogue bundled() { return Catalogue({std::filesystem::path(LANEWISE_SOURCE_DIR) / "topologies"}); }

}  // namespace lanewise::test
