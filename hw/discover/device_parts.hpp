#pragma once
// Which part of the catalogue a device is; where it has none, what the drivers say becomes a part of the machine's own.
#include <optional>
#include <string>
#include <vector>

#include "core/interop/machines/machine_builder.hpp"
#include "hw/discover/facts.hpp"

namespace lanewise::hw {

// By product name, else by CPUID; empty when it is not known.
std::string cpu_part(Facts const& facts, MachineBuilder& builder);
std::optional<PartId> gpu_part(PciFacts const& gpu, Facts const& facts, MachineBuilder& builder);
// `ports`: the network devices on it, as below.
std::optional<PartId> nic_part(PciFacts const& nic, std::vector<NicFacts> const& ports, MachineBuilder& builder);

// The devices on the functions of one slot ("0000:3b:00."): those of RDMA, or else the interfaces.
std::vector<NicFacts> ports_of_nic(Facts const& facts, std::string const& slot);
// The PCI address of an interface; empty: it has none.
std::string interface_address(Facts const& facts, std::string const& name);

}  // namespace lanewise::hw
