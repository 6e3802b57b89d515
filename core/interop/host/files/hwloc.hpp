#pragma once
// Facts of a host from hwloc's XML (`lstopo file.xml`), versions 1 to 3. The format has no ACS, no IOMMU, and links
// only as a bandwidth: see docs/importing.md.
#include <string_view>

#include "core/interop/host/facts.hpp"
#include "core/interop/likeness.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

Likeness recognise_hwloc(std::string_view text);
// A DOCTYPE is accepted and its DTD never loaded. Throws InputError when it is no XML, or not hwloc's.
HostFacts read_hwloc(SourceText const& source);

}  // namespace lanewise
