#pragma once
// What the operating system adds to the hardware: the mode of the IOMMU, and installed software.
#include "core/interop/host/facts.hpp"
#include "core/interop/host/pci_tree.hpp"
#include "core/interop/machines/machine_builder.hpp"

namespace lanewise {

// The IOMMU mode of the GPUs where there are any, else of all devices; the most restrictive one where they differ.
IommuMode iommu_mode(PciTree const& tree, HostFacts const& facts, MachineBuilder& builder);

// `stand_ins`: an emulated machine, whose GPUs have no driver.
void describe_software(HostFacts const& facts, bool stand_ins, MachineBuilder& builder);

}  // namespace lanewise
