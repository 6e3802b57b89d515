#pragma once
// What the operating system adds to the hardware: the IOMMU's mode, and the software that is there.
#include "core/interop/machines/machine_builder.hpp"
#include "hw/discover/facts.hpp"
#include "hw/discover/pci_tree.hpp"

namespace lanewise::hw {

// That of the GPUs where there are any, else of all devices; the most restrictive where they differ.
IommuMode iommu_mode(PciTree const& tree, Facts const& facts, MachineBuilder& builder);

// `stand_ins`: of an emulated machine, whose GPUs have no driver.
void describe_software(Facts const& facts, bool stand_ins, MachineBuilder& builder);

}  // namespace lanewise::hw
