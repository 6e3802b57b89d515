#pragma once
// Sets of CPUs and NUMA nodes as hwloc writes them: "0x00000001,0x0000ffff", the most significant 32 bits first.
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

// Ascending; at most 65,536 of them. Empty for a text that is no set, and for an infinite set ("0xf...f").
std::vector<int> hwloc_set(std::string_view text);
// "0-27,56-83"
std::string ranges_of(std::vector<int> const& numbers);

}  // namespace lanewise
