#pragma once
// Static topology files of clouds (NCCL_TOPO_FILE) hold PCI trees only: NCCL finds GPUs and NVLinks when it runs. What
// they leave out is the product's, and the file's name, its comments or its shape tell the product.
#include <string>
#include <vector>

#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

// Whether no GPU of the file has a <gpu> element: NCCL did not write it.
bool is_static(NcclSystem const& system);

// The GPU's part in a static file, by the instance that it names or by its shape; empty when neither tells. Gives
// devices without a class one where the instance is known to have so many GPUs. Notes what was inferred.
std::string static_gpu_part(NcclSystem& system, std::vector<std::string>& notes);

}  // namespace lanewise
