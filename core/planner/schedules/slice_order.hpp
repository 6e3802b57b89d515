#pragma once
// The order of the slices of a schedule.
#include <vector>

namespace lanewise {

// Orders items on a path so that the sum of savings between neighbours is large. `savings[a][b]`: between a and b.
// Nearest neighbour from `start` on, then reversals of stretches while any helps (2-opt, Croes 1958).
std::vector<std::size_t> path_of_savings(std::vector<std::vector<double>> const& savings, std::size_t start);

}  // namespace lanewise
