#pragma once
// NCCL's table of estimates as its log prints it (NCCL_DEBUG=INFO, subsystem TUNING), against what its rules give.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/planner/libraries/nccl/tree_search.hpp"
#include "core/planner/libraries/nccl/tuning.hpp"

namespace lanewise::nccl {

struct PrintedCell {
  CollectiveOp op;
  AlgorithmKind algorithm;
  Protocol protocol;
  double latency, rate;  // us; GB/s of the op's bytes
};

// A communicator of the GPUs of one node, without NVLS.
inline Communicator of_one_node(Topology const& topology, Library const& library) {
  auto const count = topology.gpus().size();
  Communicator communicator{count, 1, count, search_rings(topology, false, library), {}, 0, false, {}};
  communicator.tree_rate = tree_rate(communicator.ring, topology, 1, library);
  return communicator;
}

inline void expect_cells(Communicator const& communicator, Topology const& topology, Library const& library,
                         std::vector<PrintedCell> const& printed) {
  for (auto const& expected : printed) {
    auto const all = cells(expected.op, communicator, topology, library, {});
    auto const found = std::find_if(all.begin(), all.end(), [&](Cell const& cell) {
      return cell.algorithm == expected.algorithm && cell.protocol == expected.protocol;
    });
    SCOPED_TRACE(fmt::format("{} {} {}", lanewise::to_string(expected.op), to_string(expected.algorithm),
                             to_string(expected.protocol)));
    ASSERT_NE(found, all.end());
    EXPECT_NEAR(found->latency_us, expected.latency, 0.051);
    EXPECT_NEAR(found->rate, expected.rate, 0.051);
  }
}

}  // namespace lanewise::nccl
