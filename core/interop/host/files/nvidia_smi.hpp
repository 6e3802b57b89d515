#pragma once
// Facts of a host's GPUs from `nvidia-smi -q -x`. The file knows no PCI tree, and lists NVLinks only as a fabric's
// state.
#include <string_view>

#include "core/interop/host/facts.hpp"
#include "core/interop/likeness.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

Likeness recognise_nvidia_smi(std::string_view text);
// Throws InputError when it is no XML, or not nvidia-smi's. A value that cannot be read stays unknown.
HostFacts read_nvidia_smi(SourceText const& source);

}  // namespace lanewise
