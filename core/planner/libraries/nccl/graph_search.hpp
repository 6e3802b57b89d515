#pragma once
// NCCL's search for rings (src/graph/search.cc): how many channels, in which order they pass the GPUs, and which rate
// NCCL believes each to have.
#include <cstdint>
#include <vector>

#include "core/planner/libraries/nccl/topology.hpp"

namespace lanewise::nccl {

struct Channel {
  std::vector<std::size_t> gpus;  // of one node, in order
  std::size_t nic = 0;            // several nodes: by which the ring enters
  std::size_t nic_out = 0;        // and by which it leaves

  friend bool operator==(Channel const&, Channel const&) = default;
};

// Whether a ring may leave a node by another NIC than it came in by (search.cc: crossNic). Alternating: every second
// channel goes the way of the one before it back, and every second node exchanges the two, so that nothing crosses
// rails.
enum class RailChange : std::uint8_t { None, Any, Alternating };

struct Graph {
  std::vector<Channel> channels;
  double rate = 0;        // GB/s of each channel, as NCCL counts
  double inter_rate = 0;  // NVLS and CollNet between nodes: what a head gets to its NIC
  PathType intra = PathType::Nvl;
  PathType inter = PathType::Pix;
  bool same_channels = false;
  RailChange rail_change = RailChange::None;
  bool is_fallback = false;  // nothing was found: one channel in the order of ranks
};

// search.cc, ncclTopoDupChannels: twice as many channels of half the rate, but no more than `max`.
void duplicate_channels(Graph& graph, int capability, std::size_t max);

// The rings through one node, of several where `several_nodes`: every node is taken to be like this one.
Graph search_rings(Topology const& topology, bool several_nodes, Library const& library,
                   Environment const& environment = {});

// The NVLS graph of one node: how many heads, and the rate of each. Without channels where no rate fits.
Graph search_nvls(Topology const& topology, bool several_nodes, Library const& library);

}  // namespace lanewise::nccl
