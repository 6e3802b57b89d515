#pragma once
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

struct ExceededPorts {
  PciId gpu{};
  int links = 0;
};

// NVIDIA's GPUs that have more NVLinks in the machine than their part has ports. C2C has a port of its own, and a
// generic part may stand for one with more ports.
std::vector<ExceededPorts> exceeded_nvlink_ports(Machine const& machine);

}  // namespace lanewise
