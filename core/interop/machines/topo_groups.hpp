#pragma once
// What the distances of `nvidia-smi topo -m` say about the PCIe tree.
#include <cstddef>
#include <vector>

#include "core/interop/machines/topo_matrix.hpp"
#include "core/io/file.hpp"

namespace lanewise {

using DeviceGroup = std::vector<std::size_t>;  // positions in TopoMatrix::devices, ascending

DeviceGroup all_devices(TopoMatrix const& matrix);

// The connected components of `among`, where two devices are connected when their distance is at most `level`.
std::vector<DeviceGroup> groups_within(TopoMatrix const& matrix, DeviceGroup const& among, PathClass level);

// Checks that a tree can have these distances. Throws InputError for every pair that is farther apart than the devices
// between them allow, such as A and B at SYS when A-C and C-B are PIX.
void check_tree_exists(TopoMatrix const& matrix, SourceText const& source);

}  // namespace lanewise
