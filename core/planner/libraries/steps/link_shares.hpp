#pragma once
// What libraries' algorithms let each link carry.
#include <cstddef>
#include <vector>

#include "lanewise/plan/collective.hpp"

namespace lanewise {

// How often the bytes of a collective of `ranks` pass the busiest hop of a ring, or the busiest GPU of an exchange:
// 2 (n - 1) / n of an all-reduce. 0 for ops that libraries do not do.
double passes_of(CollectiveOp op, std::size_t ranks);

// Of the links of GPUs that send to all others at once, beside what a ring gets out of them: sends in rounds of growing
// distance do not meet everywhere at once, less so the more there are. Fitted to all-to-alls of 512 MiB among 8 A100
// and H100 (ai-dynamo/aiconfigurator): 0.88, which more ranks are taken to have too.
double send_efficiency(std::size_t ranks);

// Paths through all of `count` GPUs, of which no two pass the same link in the same direction and each starts and ends
// at a GPU of its own: as many as GPUs where their number is even (the zigzag 0, 1, -1, 2, ... and its rotations;
// Walecki in Lucas, Recreations mathematiques, 1892), one where it is odd.
std::vector<std::vector<std::size_t>> disjoint_paths(std::size_t count);

}  // namespace lanewise
