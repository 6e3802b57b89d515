#pragma once
// What the commands that make machine files share.
#include <string>

#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise::cli {

// Throws InputError when a machine or a measurement cannot be called so.
void check_name(std::string const& name);

// The machine's file, once it reads back as the same machine; `origin` is named when it does not.
std::string checked_yaml(Machine const& machine, Catalogue& catalogue, std::string const& origin);

}  // namespace lanewise::cli
