#pragma once
// What the distances of `nvidia-smi topo -m` say about the PCIe tree.
#include <cstddef>
#include <string>
#include <vector>

#include "core/interop/machines/topo_matrix.hpp"
#include "lanewise/machine/part.hpp"

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

// The NVLinks of the GPU's pair with most of them: its links to NVSwitches, where these join it to others.
int most_nvlinks(TopoMatrix const& matrix, std::size_t gpu);

// Whether NVSwitches join a group of GPUs: three or more GPUs, all pairs as many links as the GPU with fewer of them
// has, and that number is either all links of a GPU (those of `product`, or without it 6 of a V100, 12 of an A100, 18
// of an H100) or so large that no GPU has enough ports for direct links to all others.
bool joined_by_switches(TopoMatrix const& matrix, DeviceGroup const& group, Part const* product);

}  // namespace lanewise
