#pragma once
#include "core/io/yaml.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

// Reports what of a workload does not fit together, at the keys of its block: ranks that do not divide heads or
// experts, batches that do not divide, sizes that nothing has.
void check_workload(Workload const& workload, MapReader& reader);

}  // namespace lanewise
