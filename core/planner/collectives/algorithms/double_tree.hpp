#pragma once
// The two binary trees over nodes of NCCL's tree algorithm: an inner node of one is a leaf of the other (Sanders, Speck
// and Träff, 2009; NCCL src/graph/trees.cc).
#include <cstddef>
#include <optional>

namespace lanewise {

// The parent of a node in the first (0) or the second (1) tree; nullopt for its root.
std::optional<std::size_t> tree_parent(std::size_t node, std::size_t nodes, int tree);

}  // namespace lanewise
