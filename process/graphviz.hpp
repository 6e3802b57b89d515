#pragma once
#include <string>

namespace lanewise {

// Draws a graph in Graphviz' language as SVG with the program `dot`. Throws MissingError when it is not installed.
std::string svg_of(std::string const& graph);

}  // namespace lanewise
