#pragma once
// What a job asks for, as a digest: results that are kept are used again only for the same job.
#include "core/io/digest.hpp"
#include "core/io/yaml.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

// A brief's entry of a job, but for its name and weight.
void add_job_entry(YamlNode const& entry, Digest& digest);
// What of a workload stands in other files than the scenario: the model, counted tokens, measured times, traces.
void add_files_of(Workload const& workload, Digest& digest);

}  // namespace lanewise
