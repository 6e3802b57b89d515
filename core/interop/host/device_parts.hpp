#pragma once
// Finds the catalogue's part of a device. For a device that the catalogue lacks, makes a part of the machine's own from
// what the drivers say.
#include <optional>
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/machines/machine_builder.hpp"

namespace lanewise {

// By product name, else by CPUID; empty when unknown.
std::string cpu_part(HostFacts const& facts, MachineBuilder& builder);
std::optional<PartId> gpu_part(PciFacts const& gpu, HostFacts const& facts, MachineBuilder& builder);
// `ports`: the network devices on it, from ports_of_nic().
std::optional<PartId> nic_part(PciFacts const& nic, std::vector<NicFacts> const& ports, HostFacts const& facts,
                               MachineBuilder& builder);
// The name of a switch's part; empty when unknown.
std::string switch_part(PciFacts const& bridge, HostFacts const& facts, MachineBuilder& builder);

// The network devices on the functions of one slot ("0000:3b:00."): RDMA devices, or interfaces where there are none.
std::vector<NicFacts> ports_of_nic(HostFacts const& facts, std::string const& slot);
// The PCI address of an interface; empty where it has none.
std::string interface_address(HostFacts const& facts, std::string const& name);

}  // namespace lanewise
