#pragma once
#include <string>
#include <vector>

#include "emulator/guest_config.hpp"

namespace lanewise::emulator::guest {

// Checks that every function is where the layout has it, and sets the ports' ACS control bits. Returns a note for every
// port that did not take its bits. Throws GuestError naming a missing function.
std::vector<std::string> check_pci_tree(std::vector<GuestFunction> const& functions);

}  // namespace lanewise::emulator::guest
