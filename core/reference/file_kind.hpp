#pragma once
// The kinds of files that people write, and the mappings (MapSpecs) they consist of. Schemas and key tables are made
// from these.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

enum class FileKind : std::uint8_t {
  Machine,
  Cluster,
  Part,
  Scenario,
  Measurement,
  Calibration,
  Model,
  Design,
  Prices
};
inline constexpr std::array<FileKind, 9> kFileKinds{FileKind::Machine,  FileKind::Cluster,     FileKind::Part,
                                                    FileKind::Scenario, FileKind::Measurement, FileKind::Calibration,
                                                    FileKind::Model,    FileKind::Design,      FileKind::Prices};
std::string_view to_string(FileKind kind);  // machine, cluster, part, scenario, measurement, calibration, model,
                                            // design, prices
Parsed<FileKind> parse_file_kind(std::string_view text);
// What a file says that it is by its first key, such as "lanewise: machine/1"; absent: it begins with something else.
std::optional<FileKind> file_kind(SourceText const& source);

// The mappings that a whole file can be: one; for a part, one for each kind of part.
std::vector<MapSpec const*> file_specs(FileKind kind);
// The mappings of all kinds of parts, also for parts described inside a machine file.
std::vector<MapSpec const*> part_specs();

}  // namespace lanewise
