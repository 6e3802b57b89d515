#include "core/view/machine/dot_route.hpp"

#include <algorithm>
#include <optional>

namespace lanewise {
namespace {

// What a hop is in the graph: "numa0 memory" is numa0, and words such as "socket link" are no node.
std::optional<std::string> node_of(Machine const& machine, std::string const& hop, DrawnAs const& drawn_as) {
  constexpr std::string_view kMemory = " memory";
  if (hop.ends_with(kMemory)) return hop.substr(0, hop.size() - kMemory.size());
  if (machine.fabric)
    for (std::uint32_t i = 0; i < machine.fabric->switches.size(); ++i)
      if (machine.fabric->switches[i].name == hop) return drawn_as(i);
  return hop.find(' ') == std::string::npos ? std::optional(hop) : std::nullopt;
}

}  // namespace

DotLines::Highlight highlight_of(Machine const& machine, std::vector<std::string> const& route,
                                 DrawnAs const& drawn_as) {
  DotLines::Highlight marked;
  std::string last;         // node
  std::string last_socket;  // where a socket link begins
  auto const go_to = [&](std::string const& node) {
    marked.nodes.insert(node);
    if (!last.empty()) marked.edges.insert({last, node});
    last = node;
    bool const is_socket = std::any_of(machine.sockets.begin(), machine.sockets.end(),
                                       [&](Socket const& one) { return one.name == node; });
    if (!is_socket) return;
    if (!last_socket.empty()) marked.edges.insert({last_socket, node});
    last_socket = node;
  };
  for (auto const& hop : route) {
    auto const node = node_of(machine, hop, drawn_as);
    if (!node) continue;
    for (auto const& numa : machine.numa_nodes)  // a route may name a memory without its socket
      if (numa.name == *node && last != machine.at(numa.socket).name) go_to(machine.at(numa.socket).name);
    go_to(*node);
  }
  return marked;
}

}  // namespace lanewise
