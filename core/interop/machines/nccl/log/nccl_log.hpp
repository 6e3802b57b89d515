#pragma once
// Imports logs of NCCL and RCCL (NCCL_DEBUG=INFO, best with NCCL_DEBUG_SUBSYS=INIT,GRAPH).
#include <string_view>

#include "core/interop/likeness.hpp"
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/nccl/log/log_facts.hpp"
#include "core/interop/machines/topo_m.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

Likeness recognise_nccl_log(std::string_view text);

// The machine of the host about which the log says most: its tree where GRAPH lines are there, else the GPUs and NICs
// that lines name. Notes say version, channels, transports, NICs in use, and what was inferred. `parts` names products,
// which logs do not. Throws InputError when no line names a GPU.
Machine read_nccl_log(SourceText const& source, TopoOptions const& parts, Catalogue& catalogue);

// That host as the log tells it, and as a topology file would hold it. Throws InputError likewise.
struct NcclLoggedHost {
  NcclLogHost host;
  NcclSystem system;
};
NcclLoggedHost read_nccl_logged_host(SourceText const& source);

}  // namespace lanewise
