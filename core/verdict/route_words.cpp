#include "core/verdict/route_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

void add_hop_words(Model const& model, Hop const& hop, std::vector<std::string>& words) {
  auto const& machine = model.machine();
  words.push_back(model.name_of(hop));
  switch (hop.kind) {
    case HopKind::Function: words.emplace_back(to_string(machine.functions[hop.id].kind)); break;
    case HopKind::RootComplex: words.emplace_back("root_complex"); break;
    case HopKind::SocketLink: words.emplace_back("socket_link"); break;
    case HopKind::Memory:
      words.emplace_back("host_memory");
      words.push_back(machine.numa_nodes[hop.id].name);
      break;
    case HopKind::ChipFabric: words.emplace_back("chip_fabric"); break;
    case HopKind::Nvlink: words.emplace_back("nvlink"); break;
    case HopKind::NvSwitch:
      words.emplace_back("nvswitch");
      words.emplace_back("nvlink");
      break;
    case HopKind::NetworkSwitch: words.emplace_back("network"); break;
  }
}

std::vector<std::string> const& hop_kind_words() {
  static std::vector<std::string> const words{"root_complex", "root_port",   "switch",      "gpu",         "nic",
                                              "nvme",         "socket_link", "host_memory", "chip_fabric", "nvlink",
                                              "nvswitch",     "network",     "spine"};
  return words;
}

}  // namespace

void add_route_words(Model const& model, Route const& route, std::vector<std::string>& words) {
  for (auto const& hop : route) add_hop_words(model, hop, words);
}

void check_route_words(Scenario const& scenario, Machine const& machine) {
  auto known = hop_kind_words();
  for (auto const& function : machine.functions) known.push_back(function.name);
  for (auto const& socket : machine.sockets) known.push_back(socket.name);
  for (auto const& numa : machine.numa_nodes) known.push_back(numa.name);
  for (auto const& domain : machine.nvswitches) known.push_back(domain.name);
  if (machine.fabric)
    for (auto const& one : machine.fabric->switches) known.push_back(one.name);
  for (auto const& expectation : scenario.expectations)
    for (auto const* list : {&expectation.avoids, &expectation.through})
      for (auto const& word : *list)
        if (std::find(known.begin(), known.end(), word) == known.end())
          throw InputError(
              std::vector<Diagnostic>{{expectation.pos,
                                       fmt::format("'{}' is neither a kind of hop nor a name on '{}'; kinds: {}", word,
                                                   machine.name, fmt::join(hop_kind_words(), ", ")),
                                       {}}});
}

}  // namespace lanewise
