#pragma once
// What the processes of a run do in step: each does its part of a stage, and all hear whether all could.
#include <functional>
#include <string>
#include <vector>

#include "hw/nodes/group.hpp"

namespace lanewise::hw {

// What `part` gave at each process, by rank. Where it threw, at any of them, every process throws that error, with the
// node in front.
std::vector<std::string> exchange(Group& group, std::function<std::string()> const& part);

}  // namespace lanewise::hw
