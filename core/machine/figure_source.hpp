#pragma once
// Reads the key `sources` of parts and language models: for each figure, what it rests on.
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/machine/figure_source.hpp"

namespace lanewise {

// One entry: {datasheet: "..."}, {measured: "..."} or {estimated: "..."}.
MapSpec const& figure_source_spec();

// Reads `sources` of a mapping whose other keys are `keys`; `what`: what it describes, "gpu". Problems go to the
// reader's diagnostics.
std::vector<FigureSource> read_figure_sources(MapReader& reader, std::vector<std::string> const& keys,
                                              std::string_view what);

}  // namespace lanewise
