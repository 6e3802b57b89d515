#pragma once
// What importers and discovery do with a machine that they made: name it, and write it as a file.
#include <string>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Throws InputError when a machine or a measurement cannot have this name.
void check_name(std::string const& name);

// The machine as a machine file. Throws std::logic_error naming `origin` when the file does not read back as an equal
// machine: that is a defect of lanewise.
std::string checked_yaml(Machine const& machine, Catalogue& catalogue, std::string const& origin);

}  // namespace lanewise
