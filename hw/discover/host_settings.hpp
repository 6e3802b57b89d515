#pragma once
// What the operating system adds to the hardware: the mode of the IOMMU, and installed software.
#include "core/interop/machines/machine_builder.hpp"
#include "hw/discover/facts/facts.hpp"
#include "hw/discover/pci_tree.hpp"

namespace lanewise::hw {

// The IOMMU mode of the GPUs where there are any, else of all devices; the most restrictive one where they differ.
IommuMode iommu_mode(PciTree const& tree, Facts const& facts, MachineBuilder& builder);

// `stand_ins`: an emulated machine, whose GPUs have no driver.
void describe_software(Facts const& facts, bool stand_ins, MachineBuilder& builder);

}  // namespace lanewise::hw
