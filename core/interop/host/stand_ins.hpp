#pragma once
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/machines/roles.hpp"

namespace lanewise {

// Whether the functions that roles give a device are the emulator's stand-ins on this host: empty, or what is there
// instead. A roles file that is found rather than named is used only then, so that a file that was left behind turns no
// device into another.
std::string misfit_of_roles(std::vector<Role> const& roles, HostFacts const& facts);

}  // namespace lanewise
