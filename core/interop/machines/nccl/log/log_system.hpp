#pragma once
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/nccl/log/log_facts.hpp"

namespace lanewise {

// The tree that a host printed, or its GPUs and NICs at unknown places, as NCCL's topology file would hold it. Rates of
// links become generation and width; notes say what that infers.
NcclSystem system_of_log(NcclLogHost const& host);

}  // namespace lanewise
