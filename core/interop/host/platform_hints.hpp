#pragma once
// What the PCI functions of a host say about its sockets and CPUs, for sources that see only PCI. Every conclusion is
// noted.
#include "core/interop/host/facts.hpp"

namespace lanewise {

// Fills CpuFacts::nodes from the NUMA nodes of the functions, when the source lists none. Each node counts as a socket,
// but of AMD's newer processors each socket shows one data fabric (00:18.0, 00:19.0), so these are counted.
void infer_sockets(HostFacts& facts);

// Fills CpuFacts::cpuid with the family that has this root complex, when the source names no CPU.
void infer_cpu_family(HostFacts& facts);

// Marks the host as a virtual machine when its chipset is one that only hypervisors present.
void infer_hypervisor(HostFacts& facts);

}  // namespace lanewise
