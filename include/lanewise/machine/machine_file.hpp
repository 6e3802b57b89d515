#pragma once
// Reads and writes machine and cluster files (`lanewise: machine/1`, `lanewise: cluster/1`).
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Reads `lanewise: machine/1`. Throws InputError with every problem.
Machine read_machine(SourceText const& source, Catalogue& catalogue);
// Reads `lanewise: cluster/1` and puts all nodes into one Machine, with names such as "node0/gpu0". Throws InputError
// with every problem.
Machine read_cluster(SourceText const& source, Catalogue& catalogue);

// The machine file of a single machine, as a tree and as YAML. It reads back to an equal Machine. Throws PlanError for
// a cluster.
nlohmann::ordered_json machine_tree(Machine const& machine);
std::string write_machine(Machine const& machine);
// A part as it stands under `parts:` of a machine file.
nlohmann::ordered_json part_tree(Part const& part);

}  // namespace lanewise
