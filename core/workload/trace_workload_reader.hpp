#pragma once
#include "core/io/yaml.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

// Reads the keys `trace` and `comm_groups` of a workload, and the files that they name, which are first looked for
// beside the scenario. Problems go to the reader's diagnostics; the workload is complete only where there are none.
void read_trace(MapReader& reader, Workload& workload);

// The ranks of each group: {"1": [0, 1, 2, 3]}, as ASTRA-sim takes them. Throws InputError at what is wrong.
std::map<std::string, std::vector<int>> read_rank_groups(SourceText const& source);

}  // namespace lanewise
