#pragma once
// What cannot be built: more PCIe lanes than a CPU or a switch has, more cables than a network switch has ports.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A sentence for each CPU and each PCIe switch whose links take more lanes than its part has. Links that no file states
// count as wide as both ends allow; they do not count where a note of the machine says that it was inferred, nor does
// anything in a virtual machine, whose tree is not the host's.
std::vector<std::string> exceeded_lanes(Machine const& machine);

// The lanes of one CPU or one PCIe switch.
struct LaneUse {
  std::string owner;  // "cpu0", or the chip
  int used = 0;
  std::optional<int> there;  // absent: its part does not say
};
// By owner: CPUs first. Of a virtual machine what its tree shows.
std::vector<LaneUse> lane_uses(Machine const& machine);

// A sentence for the first switch of a cluster's fabric with more cables than its part has ports. A cable slower than a
// port shares it with others where the port can be split, in four at most. Nothing is known of spines.
std::vector<std::string> exceeded_ports(Machine const& cluster, Fabric const& fabric);

}  // namespace lanewise
