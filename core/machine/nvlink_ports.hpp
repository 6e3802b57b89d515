#pragma once
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct ExceededPorts {
  PciId gpu{};
  int links = 0;
};

// NVIDIA's GPUs that have more NVLinks in the machine than their part has ports. C2C has a port of its own, and a
// generic part may stand for one with more ports.
std::vector<ExceededPorts> exceeded_nvlink_ports(Machine const& machine);

// Throws InputError where there is one: the source or the user names a wrong part. `source`: what errors call it.
void refuse_exceeded_ports(Machine const& machine, std::string_view source);

}  // namespace lanewise
