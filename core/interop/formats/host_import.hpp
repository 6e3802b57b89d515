#pragma once
#include <vector>

#include "core/interop/formats/formats.hpp"

namespace lanewise {

// A file and the format that it is read as.
struct ForeignFile {
  SourceText source;
  Format const* format = nullptr;
};

// Makes one machine of what files of one host say: of one file of any format, or of several whose formats give facts
// (lspci, hwloc, nccl, nccl-log, nvidia-smi-xml, rocm-topo), with the table of topo-m beside them. Contradictions
// become notes. Throws InputError with every error of a file, when files of these formats cannot be merged, and when
// the catalogue has no part of a name in `parts`.
Machine import_host(std::vector<ForeignFile> const& files, TopoOptions const& parts, Catalogue& catalogue);

}  // namespace lanewise
