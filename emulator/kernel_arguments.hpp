#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "emulator/pci_layout.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::emulator {

// The kernel's command line: console, IOMMU and ACS as the settings say.
std::string kernel_arguments(Machine const& machine, HostId host, PciLayout const& layout);

// The ACS control bits that a port must have; nullopt: as the kernel leaves them.
std::optional<std::uint16_t> acs_of_port(Machine const& machine, EmulatedDevice const& port);

}  // namespace lanewise::emulator
