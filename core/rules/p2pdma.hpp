#pragma once
// How Linux maps the memory of one PCI function for another: drivers/pci/p2pdma.c, calc_map_type_and_dist, of
// Linux 6.1. Users of dma-buf go by it. tests/oracle compares it with the kernel's own text.
#include <cstdint>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The address that the client gets. BusAddress: the provider's own, which switches route. ThroughHostBridge: one of the
// DMA API, which is the same address unless an IOMMU translates. NotSupported: none, for the CPU is not on the list of
// those that forward peer requests.
enum class P2pdmaMapping : std::uint8_t { BusAddress, ThroughHostBridge, NotSupported };

// Linux asks every downstream port between the two and takes any of ACS request redirect, completion redirect and
// egress control as a redirect, whatever the direction of the packets; a control that nobody could read counts as one,
// too. Virtual switches of one chip are separate switches to it. Never throws. Both functions must be of one host.
P2pdmaMapping p2pdma_mapping(Machine const& machine, PciId provider, PciId client);

}  // namespace lanewise
