#include "core/planner/collectives/algorithms/double_tree.hpp"

namespace lanewise {
namespace {

// ncclGetBtree: of node 0 none; of others by the lowest bit that is set.
std::optional<std::size_t> binary_parent(std::size_t node, std::size_t nodes) {
  if (node == 0) return std::nullopt;
  std::size_t bit = 1;
  while ((bit & node) == 0) bit <<= 1;
  auto const up = (node ^ bit) | (bit << 1);
  return up < nodes ? up : node ^ bit;
}

}  // namespace

std::optional<std::size_t> tree_parent(std::size_t node, std::size_t nodes, int tree) {
  if (tree == 0) return binary_parent(node, nodes);
  bool const mirrored = nodes % 2 == 0;
  auto const other = mirrored ? nodes - 1 - node : (node + nodes - 1) % nodes;
  auto const parent = binary_parent(other, nodes);
  if (!parent) return std::nullopt;
  return mirrored ? nodes - 1 - *parent : (*parent + 1) % nodes;
}

}  // namespace lanewise
