#pragma once
// Stages of a run that all processes go through together: each does its part, and all learn whether every part
// succeeded.
#include <functional>
#include <string>
#include <vector>

#include "hw/nodes/group.hpp"

namespace lanewise::hw {

// Runs `part` in every process and returns all results, by rank. When it throws in any process, every process throws
// that error, with the node's name in front.
std::vector<std::string> exchange(Group& group, std::function<std::string()> const& part);

}  // namespace lanewise::hw
