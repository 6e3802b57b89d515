#pragma once
// Rings that NCCL found, as it dumps them (NCCL_GRAPH_DUMP_FILE), beside those that its rules give on a machine.
#include <string>
#include <vector>

#include "core/interop/machines/topo_comparison.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct NcclGraph {
  int id = 0;                                      // 0: rings, 1: trees, 2 CollNet, 3 NVLS
  double speed_intra = 0, speed_inter = 0;         // GB/s of a channel, as NCCL counts
  std::string type_intra, type_inter;              // "NVL", "PHB"
  std::vector<std::vector<std::size_t>> channels;  // GPUs by their number
};

// Throws InputError with every error.
std::vector<NcclGraph> read_nccl_graphs(SourceText const& source);

// Where the rings of a dump differ from those that the newest known NCCL would find on this machine: their number,
// rate, how far they go, their orders. GPU 0 of the dump is the first of the machine. Throws InputError where the
// machine has other GPUs, is a cluster, or the file has no rings.
std::vector<TopoDifference> compare_nccl_graph(SourceText const& source, Machine const& machine);

}  // namespace lanewise
