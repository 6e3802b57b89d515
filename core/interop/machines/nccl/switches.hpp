#pragma once
#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

// Merges bridges of the file that belong to one switch, and adds notes about it:
// - a bridge that is below a bridge and has a single device: it is the port above that device, or is on its card;
// - a bridge that is below the CPU and has a single AMD GPU: it is on the GPU's card;
// - two levels of one Broadcom chip, which NCCL itself flattens;
// - a bridge whose only child is a bridge of the same id.
void merge_switch_views(NcclSystem& system);

// Whether the device is straight on the root bus, where virtual machines put what is passed through. It shows: a device
// below a port is never on bus 00, and always has device number 0.
bool is_on_root_bus(NcclPci const& pci);

}  // namespace lanewise
