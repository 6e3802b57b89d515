#pragma once
// Machine and cluster files (`lanewise: machine/1`, `lanewise: cluster/1`): reading, writing, and their description.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/io/file.hpp"
#include "core/io/yaml.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// The keys of a machine file and of a cluster file; they check files and generate the JSON Schema.
MapSpec const& machine_spec();
MapSpec const& cluster_spec();
MapSpec const& port_spec();  // one item under `pcie` or `ports`
MapSpec const& virtualization_spec();

// Reads `lanewise: machine/1`. Throws InputError with everything that is wrong.
Machine read_machine(SourceText const& source, Catalogue& catalogue);
// Reads `lanewise: cluster/1` and lays its nodes out in one Machine ("node0/gpu0", ...).
Machine read_cluster(SourceText const& source, Catalogue& catalogue);

// The file of a single machine as a tree of keys; as YAML it reads back to an equal Machine.
// Throws PlanError for a cluster, whose file names its machines instead.
nlohmann::ordered_json machine_tree(Machine const& machine);
std::string write_machine(Machine const& machine);

}  // namespace lanewise
