#pragma once
// Links straight from GPU to GPU or CPU.
#include <cstddef>
#include <span>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Those of one node: bundles join no nodes, and machines have them in the order of their nodes.
std::span<NvlinkBundle const> bundles_of(Machine const& machine, HostId host);

// The number of a bundle of the machine.
inline std::size_t number_of(Machine const& machine, NvlinkBundle const& bundle) {
  return static_cast<std::size_t>(&bundle - machine.nvlinks.data());
}

inline bool joins(NvlinkBundle const& bundle, NvlinkEnd const& a, NvlinkEnd const& b) {
  return (bundle.a == a && bundle.b == b) || (bundle.a == b && bundle.b == a);
}

// Whether links of this family join two GPUs.
bool are_joined_by(Machine const& machine, PciId a, PciId b, LinkFamily family);

}  // namespace lanewise
