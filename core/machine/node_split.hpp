#pragma once
// The nodes of a cluster one by one. Every vector of a cluster is ordered by node, so a node is a range of each.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

class NodeSplit {
 public:
  // Where the elements of one node begin.
  struct First {
    std::size_t socket = 0;
    std::size_t numa = 0;
    std::size_t bridge = 0;
    std::size_t function = 0;
    std::size_t socket_link = 0;
    std::size_t nvlink = 0;
    std::size_t nvswitch = 0;
    std::size_t measured = 0;  // overrides
    std::size_t attachment = 0;
  };

  // Nullopt where something but the fabric and domains joins two nodes, or a vector is not ordered by node: then the
  // nodes cannot be told apart. The machine must outlive it.
  static std::optional<NodeSplit> of(Machine const& machine);

  [[nodiscard]] First const& first_of(HostId node) const { return first_[index(node)]; }
  // The machine of these nodes alone, which must be ascending. Names, parts and the fabric's switches stay; ids are
  // numbered anew, and the fabric and domains have only the NICs and GPUs of these nodes.
  [[nodiscard]] Machine only(std::span<HostId const> nodes) const;
  // A node as a single machine: names lose the node's, and nothing leads to other nodes.
  [[nodiscard]] Machine alone(HostId node) const;

 private:
  explicit NodeSplit(Machine const& machine) : machine_(machine) {}
  [[nodiscard]] bool find_firsts();
  First append(Machine& to, HostId node) const;  // returns where its elements begin there
  void append_domains(Machine& to, std::span<HostId const> nodes, std::span<First const> firsts) const;
  void append_links(Machine& to, HostId node, First const& at) const;
  void append_attachments(Machine& to, HostId node, First const& at) const;

  Machine const& machine_;
  std::vector<First> first_;  // of each node, and one behind the last
};

// The machine of the nodes that these places are on, and the places there; all of it where they cannot be told apart.
struct MachineOfPlaces {
  Machine machine;
  std::vector<Place> places;
};
MachineOfPlaces machine_of(Machine machine, std::span<Place const> places);

}  // namespace lanewise
