#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/view/machine/dot_lines.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The node of a graph that stands for a network switch, by its number in the fabric.
using DrawnAs = std::function<std::string(std::uint32_t)>;

// Nodes and edges of the graph of a machine that a route passes; `route`: hops as why/1 has them.
DotLines::Highlight highlight_of(Machine const& machine, std::vector<std::string> const& route,
                                 DrawnAs const& drawn_as);

}  // namespace lanewise
