#pragma once
// Expands one device of an Infrastructure into a graph of its components.
#include <cstddef>
#include <string>
#include <vector>

#include "core/interop/machines/infragraph/document.hpp"

namespace lanewise {

// One component of a device, a device inside a device being one node of its own.
struct InfraNode {
  std::string name;  // "xpu.3"
  InfraKind kind = InfraKind::Custom;
  std::string description;
  std::string custom_type;
};
struct InfraGraphEdge {
  std::size_t a = 0, b = 0;
  InfraLink const* link = nullptr;
};
struct InfraGraph {
  std::vector<InfraNode> nodes;
  std::vector<InfraGraphEdge> edges;
};
// Throws InputError where an edge names what is not there. The graph refers to links of the infrastructure.
InfraGraph expand(InfraDevice const& device, Infrastructure const& all, SourceText const& source);

}  // namespace lanewise
