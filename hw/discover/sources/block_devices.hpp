#pragma once
// Which PCI functions a block device lies on.
#include <string>
#include <vector>

#include "hw/discover/sources/sysfs.hpp"

namespace lanewise::hw {

// The PCI addresses below the block device of this name ("nvme0n1", "md0", "vda1"): several where it is an array, none
// where it lies on no PCI device. Through arrays and mapped devices, and the paths of a drive with several controllers.
std::vector<std::string> pci_functions_below(Sysfs const& sysfs, std::string const& name);

// The name of the block device with these numbers; empty: there is none, as below a file system in memory.
std::string block_device_name(Sysfs const& sysfs, unsigned major, unsigned minor);

}  // namespace lanewise::hw
