#pragma once
// Manual pages of the command line, in the format of man(7).
#include <string>

#include "cli/command_description.hpp"

namespace lanewise::cli {

// "lanewise", "lanewise-export": the page of a command, without its section.
std::string manual_name(CommandDescription const& command);
// The page of the whole program, or that of one of its commands; what is below that command is described on the page.
std::string manual_page(CommandDescription const& command, std::string const& version);

}  // namespace lanewise::cli
