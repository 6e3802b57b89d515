#pragma once
// Completions of the command line for shells. Names of machines, scenarios and parts are asked of the program when they
// are wanted.
#include <string>

#include "cli/command_description.hpp"

namespace lanewise::cli {

std::string bash_completion(CommandDescription const& program);
std::string zsh_completion(CommandDescription const& program);
std::string fish_completion(CommandDescription const& program);

}  // namespace lanewise::cli
