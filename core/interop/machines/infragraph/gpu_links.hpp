#pragma once
// NVLink, xGMI and C2C of an Infrastructure: the edges between accelerators, to their switches, and to CPUs.
#include <optional>
#include <vector>

#include "core/interop/machines/infragraph/graph.hpp"
#include "core/interop/machines/machine_builder.hpp"

namespace lanewise {

// What became of the nodes of a graph, by their numbers.
struct PlacedNodes {
  std::vector<std::optional<PciId>> functions;
  std::vector<bool> below_cpu;  // whether the PCIe tree reaches it
};

// The catalogue's link whose name the description of a link begins with; nullptr where there is none.
Part const* catalogue_link(InfraLink const* link, Catalogue& catalogue);

// Adds them to a machine that has its accelerators.
void add_infra_gpu_links(InfraGraph const& graph, PlacedNodes const& placed, MachineBuilder& builder);

}  // namespace lanewise
