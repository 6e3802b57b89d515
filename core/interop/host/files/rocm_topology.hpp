#pragma once
// Facts of a host's GPUs from `rocm-smi --showtopo` and `amd-smi topology`, each as text or as JSON.
#include <string_view>

#include "core/interop/host/facts.hpp"
#include "core/interop/likeness.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

Likeness recognise_rocm_topology(std::string_view text);
// Throws InputError when there is no table of the types of links between GPUs.
HostFacts read_rocm_topology(SourceText const& source);

}  // namespace lanewise
