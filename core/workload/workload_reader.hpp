#pragma once
#include "core/io/yaml.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

// The keys of a scenario's block `workload`.
MapSpec const& workload_spec();

// Reads the block and the model that it names; a file is first looked for beside the scenario. Problems go to the
// reader's diagnostics; the result is complete only where there are none.
Workload read_workload(MapReader& reader);

}  // namespace lanewise
