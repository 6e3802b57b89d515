#pragma once
// Reads collectives and computation of a scenario file.
#include "core/io/yaml.hpp"
#include "lanewise/scenario/job_spec.hpp"

namespace lanewise {

MapSpec const& collective_spec();        // under `collective`
MapSpec const& named_collective_spec();  // an entry of `collectives`
MapSpec const& compute_spec();

// Problems go to the reader's diagnostics.
CollectiveSpec read_collective(MapReader& reader);
ComputeSpec read_compute(MapReader& reader);

}  // namespace lanewise
