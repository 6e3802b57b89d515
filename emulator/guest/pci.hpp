#pragma once
#include <string>
#include <vector>

#include "emulator/guest_config.hpp"

namespace lanewise::emulator::guest {

// Checks that every function is where the layout says, and gives ports their ACS control bits.
// Throws GuestError naming a function that is missing; returns what a port did not take.
std::vector<std::string> check_pci_tree(std::vector<GuestFunction> const& functions);

}  // namespace lanewise::emulator::guest
