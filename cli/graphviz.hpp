#pragma once
#include <string>

namespace lanewise::cli {

// Draws a graph with Graphviz' program `dot`. Throws MissingError when it is not installed.
std::string svg_of(std::string const& graph);

}  // namespace lanewise::cli
