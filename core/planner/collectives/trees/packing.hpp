#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// The places that trees may pass: the participants of a collective first, then others that may forward its data.
struct Sites {
  std::vector<Place> places;
  std::size_t participants = 0;
};

// A direct way from one site to another. Beside it, what determines how fast its pieces move.
struct Leg {
  std::uint32_t from = 0, to = 0;  // indices of sites
  Way way;
  Op op = Op::Copy;
  std::vector<Sharing::Use> uses = {};      // of the packing's capacities
  std::vector<std::uint32_t> engines = {};  // indices of capacities; each leg holds one slot
  BytesPerSecond cap = kUnlimited;          // of one flow
  Seconds handover{0};                      // from the arrival of a piece to the start of its flow
};

// An arborescence that carries bytes of one root.
struct PackedTree {
  std::size_t root = 0;  // a participant
  double bytes = 0;
  std::vector<std::uint32_t> legs;  // each after the leg that reaches its start
};

// Trees that together carry all data of a broadcast or all_gather.
struct Packing {
  std::vector<Leg> legs;
  std::vector<PackedTree> trees;
  std::vector<double> capacities = {};  // of shared resources in bytes per second, of engines in slots
};

// How the trees of a plan should move data.
struct PackingStyle {
  bool by_kernels = false;                 // between GPUs by kernels alone, instead of by copy engines too
  bool host_by_kernels = false;            // through host memory by kernels, instead of by copy engines
  std::vector<double> setup_cost_weights;  // of all bytes moved, against the cost of congestion; a packing for each
  // Trees that take this long or longer are of no use.
  Seconds time_limit{std::numeric_limits<double>::infinity()};
};

}  // namespace lanewise
