#pragma once
// What files of NCCL and RCCL say about a host, to be joined with what other tools say about it.
#include "core/interop/host/facts.hpp"
#include "core/interop/machines/nccl/document.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

// Root ports, which NCCL leaves out, have made-up addresses; links are what both ends are capable of, as NCCL writes
// them. `source`: what notes call the file.
HostFacts facts_of_nccl(NcclSystem const& system, std::string source);

// Of a topology file; static files (NCCL_TOPO_FILE) list no NVLinks, and may tell the product of their GPUs.
HostFacts read_nccl_facts(SourceText const& source);
// Of the host about which a log says most.
HostFacts read_nccl_log_host(SourceText const& source);

}  // namespace lanewise
