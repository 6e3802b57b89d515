#pragma once
// NCCL's choice of algorithm and protocol: its own estimate of every pair's latency and bandwidth
// (src/graph/tuning.cc), of which the cheapest wins. The figures rank; they are no prediction of ours.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/planner/libraries/nccl/collnet.hpp"
#include "core/planner/libraries/nccl/graph_search.hpp"
#include "core/planner/libraries/steps/protocol.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise::nccl {

enum class AlgorithmKind : std::uint8_t { Tree, Ring, CollNetDirect, CollNetChain, Nvls, NvlsTree, Pat };
using lanewise::to_string;
std::string_view to_string(AlgorithmKind algorithm);  // Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT

// What NCCL believes of one pair of algorithm and protocol.
struct Cell {
  AlgorithmKind algorithm{};
  Protocol protocol{};
  double latency_us = 0;
  double rate = 0;  // GB/s: bytes of the op over time ("algbw"); 0: not allowed
  // With every hop that data wait for. NCCL counts one of a broadcast, whose data pass n - 1.
  double chained_latency_us = latency_us;
  double link_latency_us = 0;  // of those, the hops within a node
  bool is_corrected = false;   // slower at sizes in between, by NCCL's tables
  double plateau = 1;          // by how much its latency is longer for all but few bytes
};

struct Communicator {
  std::size_t ranks = 0;
  std::size_t nodes = 1;
  std::size_t per_node = 0;
  Graph ring, nvls;
  double tree_rate = 0;      // GB/s of each of the ring's channels
  bool plain_trees = false;  // of several nodes
  std::optional<CollNet> collnet;
};

// The part of a cell's latency that is no step: the launch.
double base_latency_us(Cell const& cell);
// What the network's sum takes where NVLS does what is within the nodes, as NCCL counts it.
double nvls_in_network_us();
// The hops up and down the tree of nodes of NVLSTree, as NCCL counts them.
double nvls_tree_hops_us(std::size_t nodes);
// One of its steps over NVLink, or within a node over PCIe, as NCCL counts.
double nvlink_step_us(Cell const& cell);
double pcie_step_us(Cell const& cell);

// The time of one cell for an op of `bytes`: the larger of what a rank sends and receives.
double time_us(Cell const& cell, double bytes, Communicator const& communicator);

// Every allowed cell, ring and tree first. Empty where the environment leaves none.
std::vector<Cell> cells(CollectiveOp op, Communicator const& communicator, Topology const& topology,
                        Library const& library, Environment const& environment);

// Of the cells the cheapest.
std::optional<Cell> cheapest(std::vector<Cell> const& all, double bytes, Communicator const& communicator);

// The channels that NCCL opens for a graph, each a thread block (connect.cc).
int opened_channels(Communicator const& communicator, Topology const& topology, Library const& library,
                    Environment const& environment);
// Those of an NVLS algorithm.
int nvls_channels(Communicator const& communicator, Topology const& topology, Library const& library,
                  Environment const& environment);
// The channels that one call uses of those (enqueue.cc).
int used_channels(Cell const& cell, double bytes, int opened, Communicator const& communicator, CollectiveOp op,
                  Library const& library, Environment const& environment);

}  // namespace lanewise::nccl
