#pragma once
// What limits a PCIe link.
#include <optional>

#include "lanewise/machine/part.hpp"

namespace lanewise {

// The fastest and widest link that a product can negotiate. Of a generic part, which stands for many products, it is
// not known.
inline std::optional<PcieLink> fastest_link(Part const& part) { return part.spread ? std::nullopt : part.pcie.link; }

}  // namespace lanewise
