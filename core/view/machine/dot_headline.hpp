#pragma once
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The name, the title, and what colours and lines mean, as the HTML-like label of a graph. `route`: what it shows, if
// anything.
std::string dot_headline(Machine const& machine, std::vector<std::string> const& route);

}  // namespace lanewise
