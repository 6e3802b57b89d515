#pragma once
// What the distances of `nvidia-smi topo -m` say about the PCIe tree.
#include <cstddef>
#include <string>
#include <vector>

#include "core/interop/machines/topo_matrix.hpp"

namespace lanewise {

using DeviceGroup = std::vector<std::size_t>;  // positions in TopoMatrix::devices, ascending

DeviceGroup all_devices(TopoMatrix const& matrix);

// The connected components of `among`, where two devices are connected when their distance is at most `level`.
std::vector<DeviceGroup> groups_within(TopoMatrix const& matrix, DeviceGroup const& among, PathClass level);

// The pairs that are farther apart than the devices between them allow, so that no tree has these distances, such as A
// and B at SYS when A-C and C-B are PIX. A sentence each.
std::vector<std::string> contradictions(TopoMatrix const& matrix);

// The GPUs that NVLinks join, directly or through others; groups of at least two.
std::vector<DeviceGroup> nvlink_groups(TopoMatrix const& matrix);

}  // namespace lanewise
