#pragma once
#include <random>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise::oracle {

// One or two sockets of one of these processors, root ports, up to three switches one behind the other, GPUs and NICs;
// every ACS control, the IOMMU and ATS at random; some switches are virtual ones of one chip. The generator decides
// alone: the same state gives the same machine.
Machine random_tree(std::mt19937& random, std::vector<Part const*> const& cpus);

}  // namespace lanewise::oracle
