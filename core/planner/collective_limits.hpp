#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "lanewise/units/quantity.hpp"

namespace lanewise {

// The tuning constants of planning collectives: how far each search goes, and which small differences count. All are
// compile-time constants. docs/planner-limits.md gives the reason and evidence of each.
struct CollectiveLimits {
  // Which algorithms are tried.
  std::size_t all_algorithms_max_participants = 64;  // among more, only those with few steps
  std::size_t max_pipeline_chunks = 64;              // of a chain or tree
  double min_improvement = 1e-3;  // a plan by kernels replaces one by copy engines if faster by this fraction

  // Packed trees and sets are tried where the best other plan takes this many times as long as its cut bounds.
  double min_ratio_to_cut_bounds = 1.03;

  // Blocks planned as a set.
  Bytes set_min_bytes{std::int64_t{64} << 10};

  // Folded plans among units that are not all alike.
  std::size_t max_refined_steps = 32768;

  // Plans whose every step is written down.
  std::size_t pairs_max_participants = 1448;  // of algorithms in which every two meet
  std::size_t max_participants = 4096;        // of other exchanges, scatter and gather
  std::size_t tree_max_participants = 2048;

  // Direct exchange among many participants.
  std::size_t unlimited_outstanding_max_participants = 64;
  std::size_t max_outstanding = 4;  // per participant within its group, and as many outside

  // Rings over NVLink.
  std::size_t max_rings = 12;
  int max_ring_search_steps = 200000;

  // Through host memory.
  std::size_t through_host_max_steps = 8192;
  std::array<std::size_t, 3> through_host_pieces = {1, 4, 16};  // of each participant's part

  // Hierarchical.
  std::array<std::size_t, 5> slices = {2, 4, 8, 16, 32};
  std::size_t broadcast_chunks_between_groups = 4;  // of each member's part of a slice
  std::size_t broadcast_outstanding = 2;            // chunks between two groups
  Bytes min_slice_chunk{std::int64_t{64} << 10};
  std::size_t max_transfers = 20480;  // among up to all_slices_max_participants
  std::size_t all_slices_max_participants = 64;
  std::size_t max_transfers_of_many = 65536;
  std::size_t slices_between_groups = 3;  // at a time
  std::size_t ring_max_groups = 16;
  std::array<std::size_t, 4> whole_units_outstanding = {1, 2, 4, 16};
  double min_member_utilisation = 0.85;  // of members that carry whole groups' parts

  // Packed trees.
  std::size_t packing_max_participants = 16;
  std::size_t packing_max_arborescences = 1024;  // in one pricing round
  Bytes packing_min_bytes{std::int64_t{64} << 10};
  int packing_max_pricing_rounds = 200;
  int packing_max_congestion_rounds = 10;
  double packing_tolerance = 1e-3;                                      // between trees and bound, relative
  std::array<double, 3> packing_setup_cost_weights = {0.01, 0.1, 0.5};  // each gives a packing
  std::array<std::size_t, 3> packing_pieces = {8, 16, 32};              // of each root's part
  double packing_assumed_pieces = 16;                                   // while trees are chosen
  double packing_depth_weight = 4;                                      // of a hop, in the cost of a tree
  double packing_min_tree = 0.04;                                       // of the largest tree's bytes
  double list_schedule_hop_priority = 4;                                // pieces that a hop still to go counts for
};
inline constexpr CollectiveLimits kCollectiveLimits{};

}  // namespace lanewise
