#pragma once
#include <vector>

#include "core/machine/comparison/device_matching.hpp"
#include "core/machine/comparison/machine_comparison.hpp"

namespace lanewise {

// The comparison of two single hosts; of clusters, of a pair of nodes.
struct NodeComparison {
  DeviceMatching matching;
  std::vector<MachineDifference> differences;
  std::vector<Renaming> renamed;
  bool reordered = false;
};

NodeComparison compare_nodes(Machine const& first, Machine const& second);

// What differs between two parts that stand in for each other: keys with both values.
std::vector<MachineDifference> part_differences(Part const& first, Part const& second);

}  // namespace lanewise
