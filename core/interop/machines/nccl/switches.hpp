#pragma once
#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

// Makes one switch of what the file shows as several bridges, and adds notes about it:
// - a bridge below a bridge with a single device is the port above that device, or a bridge on its card;
// - a bridge below the CPU with a single AMD GPU is on the GPU's card;
// - two views of one Broadcom chip, which NCCL itself flattens;
// - a bridge whose only child is a bridge of the same id.
void merge_switch_views(NcclSystem& system);

}  // namespace lanewise
